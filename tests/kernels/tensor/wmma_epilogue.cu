// C = max(A B * 0.5 + 1, 0) by wmma with the epilogue on the fragment, four warps a block.
#pragma keet size   M = 64, N = 64, K = 64
#pragma keet check  M = 64, N = 64, K = 64
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-5, abs = 1e-4
#pragma keet launch gemm<<<dim3(N/32, M/32), dim3(32, 4)>>>(A, B, C, N, K)
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void gemm(const half *a, const half *b, float *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    int row = blockIdx.y * 32 + threadIdx.y / 2 * 16, col = blockIdx.x * 32 + threadIdx.y % 2 * 16;
    wmma::fill_fragment(sum, 0.0f);
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::load_matrix_sync(fa, a + row * k + k0, k);
        wmma::load_matrix_sync(fb, b + k0 * n + col, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = fmaxf(sum.x[i] * 0.5f + 1, 0);
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}
