// Sums of a column, a load at a time, by few warps. Cured: 32 loads at a time.
#pragma keet size   N = 16896, M = 512
#pragma keet check  N = 256, M = 64
#pragma keet in     X : f32[M][N]
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch sums<<<N / 128, 128>>>(X, Y, N, M)

__global__ void sums(const float *X, float *Y, int n, int m)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float sum = 0;
#if CURED
    for (int k = 0; k < m; k += 32) {
        float v[32];
#pragma unroll
        for (int j = 0; j < 32; j++)
            v[j] = X[(k + j) * n + i];
#pragma unroll
        for (int j = 0; j < 32; j++)
            sum += v[j];
    }
#else
#pragma unroll 1
    for (int k = 0; k < m; k++)
        sum += X[k * n + i];
#endif
    Y[i] = sum;
}
