// C = A B by wmma 16x16x8, float in as tf32.
#pragma keet size   M = 64, N = 64, K = 32
#pragma keet check  M = 64, N = 64, K = 32
#pragma keet in     A : tf32[M][K] = uniform(-1, 1)
#pragma keet in     B : tf32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-5, abs = 1e-4
#pragma keet launch gemm<<<dim3(N/16, M/16), 32>>>(A, B, C, N, K)
#include <mma.h>

using namespace nvcuda;

__global__ void gemm(const float *a, const float *b, float *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fill_fragment(sum, float(0));
    for (int k0 = 0; k0 < k; k0 += 8) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + k0 * n + col, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}
