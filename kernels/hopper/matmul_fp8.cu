// C = A B^T for 8-bit floats with a scale for each row of A and of B, sums in f32, results in bfloat16.
// Rows are whole pieces of 16 bytes, as libraries ask for 8-bit floats.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet assume K % 16 == 0
#pragma keet check  M = 128, N = 64, K = 96
#pragma keet check  M = 256, N = 128, K = 64
#pragma keet in     A : e4m3[M][K] = uniform(-2, 2)
#pragma keet in     B : e4m3[N][K] = uniform(-2, 2)
#pragma keet in     scale_a : f32[M] = uniform(0.5, 2)
#pragma keet in     scale_b : f32[N] = uniform(0.5, 2)
#pragma keet out    C : bf16[M][N]
#pragma keet tolerance rel = 1e-2, abs = 5e-2
#pragma keet work   fp8_flops = 2*M*N*K, bytes = M*K + N*K + 2*M*N
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch matmul_fp8<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, scale_a, scale_b, C, M, N, K)
#include <cuda_bf16.h>
#include <cuda_fp8.h>

__global__ void matmul_fp8(const __nv_fp8_e4m3 *A, const __nv_fp8_e4m3 *B, const float *scale_a, const float *scale_b,
    __nv_bfloat16 *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += float(A[(size_t)row * K + k]) * float(B[(size_t)col * K + k]);
        C[(size_t)row * N + col] = __float2bfloat16(sum * scale_a[row] * scale_b[col]);
    }
}
