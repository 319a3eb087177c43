// C = A B for half matrices, sums kept in f32, one output per thread.
#pragma keet size   M = 1024, N = 1024, K = 1024
#pragma keet check  M = 65, N = 67, K = 33
#pragma keet check  M = 32, N = 64, K = 96
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[K][N] = uniform(-1, 1)
#pragma keet out    C : f16[M][N]
#pragma keet tolerance rel = 2e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch matmul_f16<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)
#include <cuda_fp16.h>

__global__ void matmul_f16(const half *A, const half *B, half *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
        C[row * N + col] = __float2half(sum);
    }
}
