// Matrix product C = A B of row-major f32 matrices, one output per thread.
#pragma keet size   M = 256, N = 256, K = 256
#pragma keet check  M = 129, N = 65, K = 33
#pragma keet check  M = 64, N = 96, K = 128
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet where  TILE*TILE <= 1024
#pragma keet launch matmul<<<dim3(ceil_div(N,TILE), ceil_div(M,TILE)), dim3(TILE,TILE), 0>>>(A, B, C, M, N, K)

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
