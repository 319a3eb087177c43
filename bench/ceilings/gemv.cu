// y = A x for a row-major f32 matrix, one row per thread.
#pragma keet size   M = 4096, N = 4096
#pragma keet check  M = 131, N = 257
#pragma keet check  M = 64, N = 96
#pragma keet in     A : f32[M][N] = uniform(-1, 1)
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[M]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N, bytes = 4*(M*N + M + N)
#pragma keet tune   BLOCK = 32 in {32, 64, 128, 256}
#pragma keet launch gemv<<<ceil_div(32*M, BLOCK), BLOCK>>>(A, X, Y, M, N)

__global__ void gemv(const float *A, const float *x, float *y, int m, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= m)
        return;
    float sum = 0.0f;
    #pragma unroll 4
    for (int j = lane; j < n; j += 32)
        sum += A[row * n + j] * x[j];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}
