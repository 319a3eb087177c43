// y = A^T x for a row-major f32 matrix, one column per thread.
#pragma keet size   M = 2048, N = 4096
#pragma keet check  M = 131, N = 257
#pragma keet check  M = 64, N = 96
#pragma keet in     A : f32[M][N] = uniform(-1, 1)
#pragma keet in     X : f32[M] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N, bytes = 4*(M*N + M + N)
#pragma keet tune   BLOCK = 32 in {32, 64, 128, 256}
#pragma keet tune   SPLIT = 32 in {2, 4, 8, 16, 32}
#pragma keet where  BLOCK*SPLIT <= 1024
#pragma keet launch matvec_t<<<ceil_div(N, BLOCK), dim3(BLOCK, SPLIT)>>>(A, X, Y, M, N)

__global__ void matvec_t(const float *A, const float *x, float *y, int m, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int piece = threadIdx.y;
    float sum = 0;
    if (col < n)
        for (int i = piece; i < m; i += blockDim.y)
            sum += A[i * n + col] * x[i];
    __shared__ float part_sum[SPLIT][BLOCK];
    part_sum[piece][threadIdx.x] = sum;
    __syncthreads();
    if (piece == 0 && col < n) {
        for (int other = 1; other < SPLIT; other++) {
            sum += part_sum[other][threadIdx.x];
        }
        y[col] = sum;
    }
}
