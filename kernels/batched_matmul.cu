// C[b] = A[b] B[b] for a batch of f32 matrices, one output per thread, the batch along grid z.
#pragma keet size   BATCH = 16, M = 256, N = 256, K = 256
#pragma keet check  BATCH = 3, M = 33, N = 35, K = 17
#pragma keet check  BATCH = 1, M = 65, N = 31, K = 64
#pragma keet in     A : f32[BATCH][M][K] = uniform(-1, 1)
#pragma keet in     B : f32[BATCH][K][N] = uniform(-1, 1)
#pragma keet out    C : f32[BATCH][M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*BATCH*M*N*K, bytes = 4*BATCH*(M*K + K*N + M*N)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch batched_matmul<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE), BATCH), dim3(TILE, TILE)>>>(A, B, C, M, N, K)

__global__ void batched_matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    int batch = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[(batch * M + row) * K + k] * B[(batch * K + k) * N + col];
        C[(batch * M + row) * N + col] = sum;
    }
}
