// C = A B by wmma 16x16x16, bytes in, 32-bit integers out.
#pragma keet size   M = 64, N = 64, K = 64
#pragma keet check  M = 64, N = 64, K = 64
#pragma keet in     A : i8[M][K] = integers(-100, 100)
#pragma keet in     B : i8[N][K] = integers(-100, 100)
#pragma keet out    C : i32[M][N]
#pragma keet launch gemm<<<dim3(N/16, M/16), 32>>>(A, B, C, N, K)
#include <mma.h>

using namespace nvcuda;

__global__ void gemm(const signed char *a, const signed char *b, int *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fill_fragment(sum, int(0));
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + col * k + k0, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}
