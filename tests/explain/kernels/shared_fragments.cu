// Each warp makes one 16 by 16 tile of outputs, so each fragment loaded from shared memory is used once.
#pragma keet size   N = 768
#pragma keet check  N = 128
#pragma keet in     A : f16[N][N] = uniform(-1, 1)
#pragma keet in     B : f16[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-1
#pragma keet work   flops = 2*N*N*N, bytes = 8*N*N
#pragma keet launch gemm<<<dim3(N / 64, N / 64), 512>>>(A, B, C, N)

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void gemm(const half *__restrict__ A, const half *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ __align__(16) half a[64][72], b[64][72];
    int warp = threadIdx.x / 32, wy = warp / 4 * 16, wx = warp % 4 * 16;
    int y = threadIdx.x / 8, x = threadIdx.x % 8 * 8;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < n; k += 64) {
        *(uint4 *)&a[y][x] = *(const uint4 *)&A[(blockIdx.y * 64 + y) * n + k + x];
        *(uint4 *)&b[y][x] = *(const uint4 *)&B[(k + y) * n + blockIdx.x * 64 + x];
        __syncthreads();
        for (int kk = 0; kk < 64; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
            wmma::load_matrix_sync(fa, &a[wy][kk], 72);
            wmma::load_matrix_sync(fb, &b[kk][wx], 72);
            wmma::mma_sync(c, fa, fb, c);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&C[(blockIdx.y * 64 + wy) * n + blockIdx.x * 64 + wx], c, n, wmma::mem_row_major);
}
