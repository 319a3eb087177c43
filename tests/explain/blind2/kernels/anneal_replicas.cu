// 270 replicas of a chain of oscillators, a block for each.
#pragma keet size   N = 270
#pragma keet check  N = 3
#pragma keet in     X : f32[N][1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N][1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch anneal<<<N, 1024>>>(X, Y)

__global__ void anneal(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = X[i], v = 0;
#pragma unroll 16
    for (int k = 0; k < 512; k++) {
        v = fmaf(v, 0.97f, -0.02f * x);
        x = fmaf(v, 0.1f, x);
    }
    Y[i] = x;
}
