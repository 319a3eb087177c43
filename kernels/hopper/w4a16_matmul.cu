// C = A W^T for half-precision A and weights of four bits, eight in a word, the lowest first. A weight is its number less
// 8, times the scale of its group of 64 along K.
#pragma keet size   M = 64, N = 4096, K = 4096
#pragma keet check  M = 16, N = 48, K = 128
#pragma keet check  M = 5, N = 64, K = 192
#pragma keet assume K % 64 == 0
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     W : u32[N][K / 8] = integers(0, 4294967295)
#pragma keet in     scale : f16[N][K / 64] = uniform(0.01, 0.1)
#pragma keet out    C : f16[M][N]
#pragma keet tolerance rel = 4e-3, abs = 2e-2
#pragma keet work   f16_flops = 2*M*N*K, bytes = 2*M*K + N*K/2 + N*K/32 + 2*M*N
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch w4a16_matmul<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, W, scale, C, M, N, K)
#include <cuda_fp16.h>

__global__ void w4a16_matmul(const __half *A, const unsigned *W, const __half *scale, __half *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            int number = (int)(W[(size_t)col * (K / 8) + k / 8] >> k % 8 * 4 & 15) - 8;
            float weight = number * __half2float(scale[(size_t)col * (K / 64) + k / 64]);
            sum += __half2float(A[(size_t)row * K + k]) * weight;
        }
        C[(size_t)row * N + col] = __float2half(sum);
    }
}
