// C = A B by wmma 8x8x4 in double precision.
#pragma keet size   M = 32, N = 32, K = 16
#pragma keet check  M = 32, N = 32, K = 16
#pragma keet in     A : f64[M][K] = uniform(-1, 1)
#pragma keet in     B : f64[K][N] = uniform(-1, 1)
#pragma keet out    C : f64[M][N]
#pragma keet tolerance rel = 1e-12, abs = 1e-12
#pragma keet launch gemm<<<dim3(N/8, M/8), 32>>>(A, B, C, N, K)
#include <mma.h>

using namespace nvcuda;

__global__ void gemm(const double *a, const double *b, double *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    int row = blockIdx.y * 8, col = blockIdx.x * 8;
    wmma::fill_fragment(sum, double(0));
    for (int k0 = 0; k0 < k; k0 += 4) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + k0 * n + col, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}
