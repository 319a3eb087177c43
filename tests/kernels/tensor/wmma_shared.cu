// C = A B by wmma from tiles in shared memory with a skewed row length.
#pragma keet size   M = 64, N = 64, K = 96
#pragma keet check  M = 64, N = 64, K = 96
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-5, abs = 1e-4
#pragma keet launch gemm<<<dim3(N/32, M/32), 128>>>(A, B, C, N, K)
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void gemm(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(32) half as[32][40], bs[32][40];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    int warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 16;
    int row = blockIdx.y * 32, col = blockIdx.x * 32;
    wmma::fill_fragment(sum, 0.0f);
    for (int k0 = 0; k0 < k; k0 += 32) {
        for (int i = threadIdx.x; i < 32 * 32; i += 128) {
            as[i / 32][i % 32] = a[(row + i / 32) * k + k0 + i % 32];
            bs[i / 32][i % 32] = b[(k0 + i / 32) * n + col + i % 32];
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk += 16) {
            wmma::load_matrix_sync(fa, &as[wr][kk], 40);
            wmma::load_matrix_sync(fb, &bs[kk][wc], 40);
            wmma::mma_sync(sum, fa, fb, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (row + wr) * n + col + wc, sum, n, wmma::mem_row_major);
}
