// A sum kept in memory. Cured: in a register.
#pragma keet size   N = 65536, M = 64
#pragma keet check  N = 256, M = 16
#pragma keet in     X : f32[M][N]
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch sums<<<N / 128, 128>>>(X, Y, N, M)

__global__ void sums(const float *X, float *Y, int n, int m)
{
    int i = blockIdx.x * 128 + threadIdx.x;
#if CURED
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < m; k++)
        sum += X[k * n + i];
    Y[i] = sum;
#else
    Y[i] = 0;
    for (int k = 0; k < m; k++)
        Y[i] += X[k * n + i];
#endif
}
