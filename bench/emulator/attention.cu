// Attention of one head, one query per thread, online softmax, keys and values in shared tiles.
#pragma keet size   N = 1024, D = 32
#pragma keet in     Q : f32[N][D]
#pragma keet in     K : f32[N][D]
#pragma keet in     V : f32[N][D]
#pragma keet out    O : f32[N][D]
#pragma keet launch attention<<<N/64, 64>>>(Q, K, V, O, N)

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n)
{
    __shared__ float k[32][32], v[32][32];
    int row = blockIdx.x * 64 + threadIdx.x;
    float q[32], o[32] = {}, largest = -3e38f, sum = 0;
    for (int d = 0; d < 32; d++)
        q[d] = Q[row * 32 + d] * 0.17677669f;
    for (int t = 0; t < n; t += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 1024; i += 64) {
            k[i / 32][i % 32] = K[t * 32 + i];
            v[i / 32][i % 32] = V[t * 32 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float s = 0;
            for (int d = 0; d < 32; d++)
                s += q[d] * k[j][d];
            float top = fmaxf(largest, s), keep = __expf(largest - top), p = __expf(s - top);
            sum = sum * keep + p;
            for (int d = 0; d < 32; d++)
                o[d] = o[d] * keep + p * v[j][d];
            largest = top;
        }
    }
    for (int d = 0; d < 32; d++)
        O[row * 32 + d] = o[d] / sum;
}
