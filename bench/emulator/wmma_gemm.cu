// f16 matrix product on tensor cores, one 16 x 16 tile per warp.
#pragma keet size   N = 512
#pragma keet in     A : f16[N][N]
#pragma keet in     B : f16[N][N]
#pragma keet out    C : f32[N][N]
#pragma keet launch wmma_gemm<<<dim3(N/64, N/16), dim3(32, 4)>>>(A, B, C, N)
#include <mma.h>
using namespace nvcuda;

__global__ void wmma_gemm(const half *A, const half *B, float *C, int n)
{
    int row = blockIdx.y * 16, col = (blockIdx.x * 4 + threadIdx.y) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(a, A + row * n + k, n);
        wmma::load_matrix_sync(b, B + k * n + col, n);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + row * n + col, c, n, wmma::mem_row_major);
}
