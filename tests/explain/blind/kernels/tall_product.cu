// A tall f16 matrix times a 64x64 one on the tensor cores.
#pragma keet size   M = 1081344
#pragma keet check  M = 4096
#pragma keet in     A : f16[M][64] = uniform(-1, 1)
#pragma keet in     B : f16[64][64] = uniform(-1, 1)
#pragma keet out    C : f16[M][64]
#pragma keet tolerance rel = 2e-2, abs = 1e-1
#pragma keet work   flops = 2*64*64*M, bytes = 256*M
#pragma keet launch product<<<M/2048, 256>>>(A, B, C)
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void product(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C)
{
    __shared__ __align__(32) half stage[8][16][72];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, r0 = lane / 8, c0 = lane % 8 * 8;
    half (*tile)[72] = stage[warp];
    size_t row = blockIdx.x * (size_t)2048 + warp * 256;
    __shared__ __align__(32) half small[64][72];
    for (int k = threadIdx.x; k < 512; k += 256)
        *(uint4 *)&small[k / 8][k % 8 * 8] = *(const uint4 *)&B[k * 8];
    __syncthreads();
    uint4 next[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        next[k] = *(const uint4 *)&A[(row + r0 + k * 4) * 64 + c0];
    for (int r = 0; r < 16; r++, row += 16) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            *(uint4 *)&tile[r0 + k * 4][c0] = next[k];
        if (r < 15)
#pragma unroll
            for (int k = 0; k < 4; k++)
                next[k] = *(const uint4 *)&A[(row + 16 + r0 + k * 4) * 64 + c0];
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            wmma::load_matrix_sync(a[i], &tile[0][i * 16], 72);
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, half> c;
            wmma::fill_fragment(c, __float2half(0));
#pragma unroll
            for (int i = 0; i < 4; i++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(b, &small[i * 16][j * 16], 72);
                wmma::mma_sync(c, a[i], b, c);
            }
            wmma::store_matrix_sync(&tile[0][j * 16], c, 72, wmma::mem_row_major);
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 4; k++)
            *(uint4 *)&C[(row + r0 + k * 4) * 64 + c0] = *(const uint4 *)&tile[r0 + k * 4][c0];
        __syncwarp();
    }
}
