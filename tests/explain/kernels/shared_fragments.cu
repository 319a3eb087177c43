// A recurrent layer: each tile loads its own fragments from shared memory, though a warp has four tiles.
#pragma keet size   N = 16896
#pragma keet check  N = 128
#pragma keet in     X : f16[N][64] = uniform(-1, 1)
#pragma keet in     W : f16[64][64] = uniform(-1, 1)
#pragma keet out    Y : f16[N][64]
#pragma keet tolerance rel = 1e-2, abs = 2e-2
#pragma keet work   flops = 131072*N, bytes = 256*N + 8192
#pragma keet launch steps<<<N / 64, 128>>>(X, W, Y)

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void steps(const half *__restrict__ X, const half *__restrict__ W, half *__restrict__ Y)
{
    __shared__ __align__(16) half h[64][72], w[64][72];
    int warp = threadIdx.x / 32, wy = warp / 2 * 32, wx = warp % 2 * 32;
    for (int k = threadIdx.x; k < 512; k += 128) {
        *(uint4 *)&h[k / 8][k % 8 * 8] = *(const uint4 *)&X[blockIdx.x * 4096 + k * 8];
        *(uint4 *)&w[k / 8][k % 8 * 8] = *(const uint4 *)&W[k * 8];
    }
    for (int r = 0; r < 16; r++) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, half> c[4];
        for (int j = 0; j < 4; j++)
            wmma::fill_fragment(c[j], __float2half(0.0f));
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 4; j++)
            for (int kk = 0; kk < 64; kk += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
                wmma::load_matrix_sync(fa, &h[wy + j / 2 * 16][kk], 72);
                wmma::load_matrix_sync(fb, &w[kk][wx + j % 2 * 16], 72);
                wmma::mma_sync(c[j], fa, fb, c[j]);
            }
        __syncthreads();
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < c[j].num_elements; k++)
                c[j].x[k] = __hmul(c[j].x[k], __float2half(0.2f));
            wmma::store_matrix_sync(&h[wy + j / 2 * 16][wx + j % 2 * 16], c[j], 72, wmma::mem_row_major);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 512; k += 128)
        *(uint4 *)&Y[blockIdx.x * 4096 + k * 8] = *(const uint4 *)&h[k / 8][k % 8 * 8];
}
