// What attention makes of the values: weights times values, both in half precision.
#pragma keet size   N = 2048
#pragma keet check  N = 128
#pragma keet in     W : f16[N][N] = uniform(0, 0.01)
#pragma keet in     V : f16[N][64] = uniform(-1, 1)
#pragma keet out    O : f32[N][64]
#pragma keet tolerance rel = 2e-2, abs = 2e-2
#pragma keet work   flops = 128*N*N, bytes = 2*N*N + 384*N
#pragma keet launch mix<<<N/32, 256>>>(W, V, O, N)

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void mix(const half *__restrict__ W, const half *__restrict__ V, float *__restrict__ O, int n)
{
    __shared__ __align__(16) half w[32][72], v[64][72];
    int t = threadIdx.x, row = blockIdx.x * 32;
    int y = t / 128 * 16, x = t / 32 % 4 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 64) {
        if (t < 256)
            *(uint4 *)&w[t / 8][t % 8 * 8] = *(const uint4 *)&W[(long)(row + t / 8) * n + k + t % 8 * 8];
        for (int j = t; j < 512; j += blockDim.x)
            *(uint4 *)&v[j / 8][j % 8 * 8] = *(const uint4 *)&V[(k + j / 8) * 64 + j % 8 * 8];
        __syncthreads();
        for (int j = 0; j < 64; j += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
            wmma::load_matrix_sync(a, &w[y][j], 72);
            wmma::load_matrix_sync(b, &v[j][x], 72);
            wmma::mma_sync(sum, a, b, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&O[(row + y) * 64 + x], sum, 64, wmma::mem_row_major);
}
