// y = A x for a row-major f32 matrix, one row per thread.
#pragma keet size   M = 4096, N = 4096
#pragma keet check  M = 131, N = 257
#pragma keet check  M = 64, N = 96
#pragma keet in     A : f32[M][N] = uniform(-1, 1)
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[M]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N, bytes = 4*(M*N + M + N)
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet launch gemv<<<ceil_div(M, BLOCK), BLOCK>>>(A, X, Y, M, N)

__global__ void gemv(const float *A, const float *x, float *y, int m, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m)
        return;
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
        sum += A[row * n + j] * x[j];
    y[row] = sum;
}
