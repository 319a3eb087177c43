// C = A B by wmma 8x32x16, unsigned bytes in, 32-bit integers out.
#pragma keet size   M = 32, N = 128, K = 64
#pragma keet check  M = 32, N = 128, K = 64
#pragma keet in     A : u8[M][K] = integers(0, 200)
#pragma keet in     B : u8[K][N] = integers(0, 200)
#pragma keet out    C : i32[M][N]
#pragma keet launch gemm<<<dim3(N/32, M/8), 32>>>(A, B, C, N, K)
#include <mma.h>

using namespace nvcuda;

__global__ void gemm(const unsigned char *a, const unsigned char *b, int *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 8, 32, 16, unsigned char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, unsigned char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
    int row = blockIdx.y * 8, col = blockIdx.x * 32;
    wmma::fill_fragment(sum, int(0));
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + k0 * n + col, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}
