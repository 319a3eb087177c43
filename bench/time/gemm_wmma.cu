// C = A B, f16 in and f32 out, on tensor cores: 16 warps a block share a TILE x TILE patch, slabs of 32 arrive by
// cp.async in STAGES buffers.
#pragma keet size   N = 2048
#pragma keet check  N = 256
#pragma keet in     A : f16[N][N] = uniform(-1, 1)
#pragma keet in     B : f16[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet tune   TILE = 128 in {64, 128}
#pragma keet tune   STAGES = 3 in {2, 3}
#pragma keet launch gemm<<<dim3(N / TILE, N / TILE), 512, 128*STAGES*TILE>>>(A, B, C, N, N, N)

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

__global__ void __launch_bounds__(512) gemm(const half *a, const half *b, float *c, int m, int n, int k)
{
    constexpr int tile = TILE, stages = STAGES, slab = 32, each = tile / 64, bytes16 = tile * slab / 8;
    extern __shared__ half shared[];
    const int t = threadIdx.x, warp_row = t / 32 / 4, warp_col = t / 32 % 4;
    const int row0 = blockIdx.y * tile, col0 = blockIdx.x * tile;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[each][each];
    for (int i = 0; i < each; i++)
        for (int j = 0; j < each; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    auto fetch = [&](int stage, int k0) {
        half *to_a = shared + stage * 2 * tile * slab, *to_b = to_a + tile * slab;
#pragma unroll
        for (int i = t; i < bytes16; i += 512) {
            int row = i * 8 / slab, col = i * 8 % slab;
            if (row0 + row < m)
                __pipeline_memcpy_async(to_a + row * slab + col, a + (row0 + row) * k + k0 + col, 16);
        }
#pragma unroll
        for (int i = t; i < bytes16; i += 512) {
            int row = i * 8 / tile, col = i * 8 % tile;
            if (col0 + col < n)
                __pipeline_memcpy_async(to_b + row * tile + col, b + (k0 + row) * n + col0 + col, 16);
        }
    };

    const int nr_slabs = k / slab;
    for (int s = 0; s < stages - 1; s++) {
        if (s < nr_slabs)
            fetch(s, s * slab);
        __pipeline_commit();
    }
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> from_a[each];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> from_b[each];
    for (int s = 0; s < nr_slabs; s++) {
        int next = s + stages - 1;
        if (next < nr_slabs)
            fetch(next % stages, next * slab);
        __pipeline_commit();
        __pipeline_wait_prior(stages - 1);
        __syncthreads();
        const half *at_a = shared + s % stages * 2 * tile * slab, *at_b = at_a + tile * slab;
#pragma unroll
        for (int kk = 0; kk < slab; kk += 16) {
#pragma unroll
            for (int i = 0; i < each; i++)
                wmma::load_matrix_sync(from_a[i], at_a + (warp_row * each + i) * 16 * slab + kk, slab);
#pragma unroll
            for (int j = 0; j < each; j++)
                wmma::load_matrix_sync(from_b[j], at_b + kk * tile + (warp_col * each + j) * 16, tile);
#pragma unroll
            for (int i = 0; i < each; i++)
#pragma unroll
                for (int j = 0; j < each; j++)
                    wmma::mma_sync(sum[i][j], from_a[i], from_b[j], sum[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < each; i++)
#pragma unroll
        for (int j = 0; j < each; j++)
            wmma::store_matrix_sync(c + (row0 + (warp_row * each + i) * 16) * n + col0 + (warp_col * each + j) * 16, sum[i][j],
                n, wmma::mem_row_major);
}
