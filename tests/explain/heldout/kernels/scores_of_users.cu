// A user's score is a weighted sum over its features: one user a thread.
#pragma keet size   U = 16384, F = 300
#pragma keet check  U = 50, F = 31
#pragma keet in     features : f32[U][F] = uniform(-1, 1)
#pragma keet in     weights : f32[F] = uniform(-1, 1)
#pragma keet out    scores : f32[U]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*U*F, bytes = 4*(U*F + F + U)
#pragma keet launch score<<<ceil_div(U, 256), 256>>>(features, weights, scores, U, F)

__global__ void score(const float *features, const float *weights, float *scores, int users, int nr_features)
{
    for (int u = blockIdx.x * blockDim.x + threadIdx.x; u < users; u += gridDim.x * blockDim.x) {
        float s = 0.0f;
        for (int f = 0; f < nr_features; ++f)
            s += weights[f] * features[u * nr_features + f];
        scores[u] = s;
    }
}
