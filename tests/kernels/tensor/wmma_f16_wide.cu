// C = A B by wmma 8x32x16, half in, half out.
#pragma keet size   M = 32, N = 128, K = 64
#pragma keet check  M = 32, N = 128, K = 64
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[K][N] = uniform(-1, 1)
#pragma keet out    C : f16[M][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet launch gemm<<<dim3(N/32, M/8), 32>>>(A, B, C, N, K)
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;

__global__ void gemm(const half *a, const half *b, half *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 8, 32, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, half> sum;
    int row = blockIdx.y * 8, col = blockIdx.x * 32;
    wmma::fill_fragment(sum, half(0));
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + k0 * n + col, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}
