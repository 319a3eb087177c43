// C = A B by wmma 32x8x16; B is stored by columns.
#pragma keet size   M = 128, N = 32, K = 64
#pragma keet check  M = 128, N = 32, K = 64
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[N][K] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-5, abs = 1e-4
#pragma keet launch gemm<<<dim3(N/8, M/32), 32>>>(A, B, C, N, K)
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;

__global__ void gemm(const half *a, const half *b, float *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum;
    int row = blockIdx.y * 32, col = blockIdx.x * 8;
    wmma::fill_fragment(sum, float(0));
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + col * k + k0, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}
