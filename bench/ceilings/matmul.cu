#include <cuda_pipeline.h>
#include <mma.h>
// Matrix product C = A B of row-major f32 matrices, one output per thread.
#pragma keet size   M = 1024, N = 1024, K = 1024
#pragma keet check  M = 129, N = 65, K = 33
#pragma keet check  M = 64, N = 96, K = 128
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet tune   BM = 64 in {32, 64, 128}
#pragma keet tune   BN = 64 in {32, 64, 128, 256}
#pragma keet tune   BK = 64 in {16, 32, 64}
#pragma keet tune   WM = 16 in {16, 32, 64}
#pragma keet tune   WN = 32 in {16, 32, 64}
#pragma keet tune   STAGES = 3 in {2, 3, 4}
#pragma keet where  WM <= BM && WN <= BN && (BM/WM)*(BN/WN) <= 16 && BM*BN <= 32768 && STAGES * BM * (BK + 4) * 4 + STAGES * BK * (BN + 8) * 4 <= 232448
#pragma keet launch matmul<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(32, (BM/WM)*(BN/WN)), max(STAGES * BM * (BK + 4) * 4 + STAGES * BK * (BN + 8) * 4, (BM/WM)*(BN/WN)*1024)>>>(A, B, C, M, N, K)

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(128) unsigned char tiles[];
    const int NR_WARPS = (BM / WM) * (BN / WN);
    float (*tile_A)[BM][BK + 4] = (float (*)[BM][BK + 4])tiles;
    float (*tile_B)[BK][BN + 8] = (float (*)[BK][BN + 8])(tiles + STAGES * BM * (BK + 4) * 4);
    float *patch = (float *)tiles + threadIdx.y * (16 * 16);
    int first_y = blockIdx.y * BM, first_x = blockIdx.x * BN;
    int warp_y = threadIdx.y / (BN / WN) * WM, warp_x = threadIdx.y % (BN / WN) * WN;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 8, float>
        sums[WM / 16][WN / 16];
    #pragma unroll
    for (int i = 0; i < WM / 16; i++)
        #pragma unroll
        for (int j = 0; j < WN / 16; j++)
            nvcuda::wmma::fill_fragment(sums[i][j], 0.0f);
    const int first_k = 0, tid = threadIdx.y * 32 + threadIdx.x;
    bool wide_tile_A = true;
    for (int u = 0; u < 2; u++) {
        {
            int row = first_y + u * (BM - 1);
            wide_tile_A = wide_tile_A && row < M;
        }
        int row = first_y + u, k = first_k;
        wide_tile_A = wide_tile_A && ((size_t)&A[row * K + k] & 15) == 0;
    }
    bool wide_tile_B = true;
    for (int u = 0; u < 2; u++) {
        {
            int col = first_x + u * (BN - 1);
            wide_tile_B = wide_tile_B && col < N;
        }
        int col = first_x, k = first_k + u;
        wide_tile_B = wide_tile_B && ((size_t)&B[k * N + col] & 15) == 0;
    }
    int k_ahead = 0;
    const int nr_tiles = max((int)(K - (0) + BK - 1) / BK, 0);
    int into = 0, from = 0;
    for (int tile = 1 - STAGES; tile < nr_tiles; tile++) {
        if (tile >= 0) {
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads();
        }
        if (tile + STAGES - 1 < nr_tiles) {
            if (wide_tile_A && k_ahead + BK <= K) {
                #pragma unroll
                for (int i = 0; i < (BM * (BK / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BM * (BK / 4) % (NR_WARPS * 32) != 0 && e >= BM * (BK / 4))
                        continue;
                    int kk = e % (BK / 4) * 4, at = e / (BK / 4);
                    int row = first_y + at, k = k_ahead + kk;
                    float *to = &tile_A[into][at][kk];
                    __pipeline_memcpy_async(to, &A[row * K + k], 16);
                }
            } else {
                #pragma unroll
                for (int i = 0; i < (BM * (BK / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BM * (BK / 4) % (NR_WARPS * 32) != 0 && e >= BM * (BK / 4))
                        continue;
                    int kk = e % (BK / 4) * 4, at = e / (BK / 4);
                    int row = first_y + at, k = k_ahead + kk;
                    float *to = &tile_A[into][at][kk];
                    bool whole = k + 3 < K && row < M;
                    if (whole) {
                        const float *value = &A[row * K + k];
                        whole = ((size_t)value & 15) == 0;
                        if (whole)
                            __pipeline_memcpy_async(to, value, 16);
                    }
                    if (!whole)
                        for (int u = 0; u < 4; u++, k++) {
                        bool whole = k < K && row < M;
                        if (whole) {
                            __pipeline_memcpy_async(&to[u], &A[row * K + k], 4);
                        }
                        if (!whole)
                            to[u] = 0.0f;
                    }
                }
            }
            if (wide_tile_B && k_ahead + BK <= K) {
                #pragma unroll
                for (int i = 0; i < (BK * (BN / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BK * (BN / 4) % (NR_WARPS * 32) != 0 && e >= BK * (BN / 4))
                        continue;
                    int at = e % (BN / 4) * 4, kk = e / (BN / 4);
                    int col = first_x + at, k = k_ahead + kk;
                    float *to = &tile_B[into][kk][at];
                    __pipeline_memcpy_async(to, &B[k * N + col], 16);
                }
            } else {
                #pragma unroll
                for (int i = 0; i < (BK * (BN / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BK * (BN / 4) % (NR_WARPS * 32) != 0 && e >= BK * (BN / 4))
                        continue;
                    int at = e % (BN / 4) * 4, kk = e / (BN / 4);
                    int col = first_x + at, k = k_ahead + kk;
                    float *to = &tile_B[into][kk][at];
                    bool whole = k < K && col < N;
                    int last = col + 3;
                    {
                        int col = last;
                        whole = whole && col < N;
                    }
                    if (whole) {
                        const float *value = &B[k * N + col];
                        whole = ((size_t)value & 15) == 0;
                        if (whole)
                            __pipeline_memcpy_async(to, value, 16);
                    }
                    if (!whole)
                        for (int u = 0; u < 4; u++, col++) {
                        bool whole = k < K && col < N;
                        if (whole) {
                            __pipeline_memcpy_async(&to[u], &B[k * N + col], 4);
                        }
                        if (!whole)
                            to[u] = 0.0f;
                    }
                }
            }
            k_ahead += BK;
            into = into + 1 == STAGES ? 0 : into + 1;
        }
        __pipeline_commit();
        if (tile >= 0) {
            nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 8, float>
                parts[WM / 16][WN / 16];
            #pragma unroll
            for (int i = 0; i < WM / 16; i++)
                #pragma unroll
                for (int j = 0; j < WN / 16; j++)
                    nvcuda::wmma::fill_fragment(parts[i][j], 0.0f);
            #pragma unroll
            for (int kk = 0; kk < BK; kk += 8) {
                nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 8, nvcuda::wmma::precision::tf32,
                    nvcuda::wmma::row_major> part_A[WM / 16], low_part_A[WM / 16];
                #pragma unroll
                for (int i = 0; i < WM / 16; i++) {
                    nvcuda::wmma::load_matrix_sync(part_A[i], &tile_A[from][warp_y + i * 16][kk], BK + 4);
                    #pragma unroll
                    for (int u = 0; u < part_A[i].num_elements; u++) {
                        float value = part_A[i].x[u];
                        part_A[i].x[u] = __uint_as_float(__float_as_uint(value) & 0xffffe000u);
                        low_part_A[i].x[u] = nvcuda::wmma::__float_to_tf32(value - part_A[i].x[u]);
                    }
                }
                nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 8, nvcuda::wmma::precision::tf32,
                    nvcuda::wmma::row_major> part_B[WN / 16], low_part_B[WN / 16];
                #pragma unroll
                for (int i = 0; i < WN / 16; i++) {
                    nvcuda::wmma::load_matrix_sync(part_B[i], &tile_B[from][kk][warp_x + i * 16], BN + 8);
                    #pragma unroll
                    for (int u = 0; u < part_B[i].num_elements; u++) {
                        float value = part_B[i].x[u];
                        part_B[i].x[u] = __uint_as_float(__float_as_uint(value) & 0xffffe000u);
                        low_part_B[i].x[u] = nvcuda::wmma::__float_to_tf32(value - part_B[i].x[u]);
                    }
                }
                #pragma unroll
                for (int i = 0; i < WM / 16; i++)
                    #pragma unroll
                    for (int j = 0; j < WN / 16; j++)
                        nvcuda::wmma::mma_sync(parts[i][j], low_part_A[i], part_B[j], parts[i][j]);
                #pragma unroll
                for (int i = 0; i < WM / 16; i++)
                    #pragma unroll
                    for (int j = 0; j < WN / 16; j++)
                        nvcuda::wmma::mma_sync(parts[i][j], part_A[i], low_part_B[j], parts[i][j]);
                #pragma unroll
                for (int i = 0; i < WM / 16; i++)
                    #pragma unroll
                    for (int j = 0; j < WN / 16; j++)
                        nvcuda::wmma::mma_sync(parts[i][j], part_A[i], part_B[j], parts[i][j]);
            }
            #pragma unroll
            for (int i = 0; i < WM / 16; i++)
                #pragma unroll
                for (int j = 0; j < WN / 16; j++)
                    #pragma unroll
                    for (int u = 0; u < parts[i][j].num_elements; u++)
                        sums[i][j].x[u] += parts[i][j].x[u];
            from = from + 1 == STAGES ? 0 : from + 1;
        }
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        #pragma unroll
        for (int j = 0; j < WN / 16; j++) {
            nvcuda::wmma::store_matrix_sync(
                patch, sums[i][j], 16, nvcuda::wmma::mem_row_major);
            __syncwarp();
            for (int u = threadIdx.x; u < 16 * 16; u += 32) {
                int row = first_y + warp_y + i * 16 + u / 16;
                int col = first_x + warp_x + j * 16 + u % 16;
                if (row < M && col < N) {
                    float sum = patch[u];
                    C[row * N + col] = sum;
                }
            }
            __syncwarp();
        }
    }
}
