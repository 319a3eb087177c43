// C = A B^T for bfloat16 matrices of the size that GEMMs are compared at, sums kept in f32, one output per thread.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet check  M = 256, N = 512, K = 192
#pragma keet check  M = 128, N = 256, K = 64
#pragma keet in     A : bf16[M][K] = uniform(-1, 1)
#pragma keet in     B : bf16[N][K] = uniform(-1, 1)
#pragma keet out    C : bf16[M][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch matmul_bf16<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)
#include <cuda_bf16.h>

__global__ void matmul_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += __bfloat162float(A[(size_t)row * K + k]) * __bfloat162float(B[(size_t)col * K + k]);
        C[(size_t)row * N + col] = __float2bfloat16(sum);
    }
}
