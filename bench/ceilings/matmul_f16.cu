#include <cuda_pipeline.h>
#include <mma.h>
// C = A B for half matrices, sums kept in f32, one output per thread.
#pragma keet size   M = 1024, N = 1024, K = 1024
#pragma keet check  M = 65, N = 67, K = 33
#pragma keet check  M = 32, N = 64, K = 96
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[K][N] = uniform(-1, 1)
#pragma keet out    C : f16[M][N]
#pragma keet tolerance rel = 2e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet tune   BM = 128 in {32, 64, 128}
#pragma keet tune   BN = 64 in {32, 64, 128, 256}
#pragma keet tune   BK = 64 in {16, 32, 64}
#pragma keet tune   WM = 32 in {16, 32, 64}
#pragma keet tune   WN = 32 in {16, 32, 64}
#pragma keet tune   STAGES = 3 in {2, 3, 4}
#pragma keet where  WM <= BM && WN <= BN && (BM/WM)*(BN/WN) <= 16 && BM*BN <= 32768 && STAGES * BM * (BK + 8) * 2 + STAGES * BK * (BN + 8) * 2 <= 232448
#pragma keet launch matmul_f16<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(32, (BM/WM)*(BN/WN)), max(STAGES * BM * (BK + 8) * 2 + STAGES * BK * (BN + 8) * 2, (BM/WM)*(BN/WN)*1024)>>>(A, B, C, M, N, K)
#include <cuda_fp16.h>

__global__ void matmul_f16(const half *A, const half *B, half *C, int M, int N, int K)
{
    extern __shared__ __align__(128) unsigned char tiles[];
    const int NR_WARPS = (BM / WM) * (BN / WN);
    half (*tile_A)[BM][BK + 8] = (half (*)[BM][BK + 8])tiles;
    half (*tile_B)[BK][BN + 8] = (half (*)[BK][BN + 8])(tiles + STAGES * BM * (BK + 8) * 2);
    float *patch = (float *)tiles + threadIdx.y * (16 * 16);
    int first_y = blockIdx.y * BM, first_x = blockIdx.x * BN;
    int warp_y = threadIdx.y / (BN / WN) * WM, warp_x = threadIdx.y % (BN / WN) * WN;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>
        sums2[WM / 16][WN / 16];
    #pragma unroll
    for (int i = 0; i < WM / 16; i++)
        #pragma unroll
        for (int j = 0; j < WN / 16; j++)
            nvcuda::wmma::fill_fragment(sums2[i][j], 0.0f);
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
    int into = 0, from = 0;
    for (int k0 = first_k - (STAGES - 1) * BK; k0 < K; k0 += BK) {
        if (k0 >= first_k) {
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads();
        }
        const int k_ahead = k0 + (STAGES - 1) * BK;
        if (k_ahead < K) {
            if (wide_tile_A && k_ahead + BK <= K) {
                #pragma unroll
                for (int i = 0; i < (BM * (BK / 8) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BM * (BK / 8) % (NR_WARPS * 32) != 0 && e >= BM * (BK / 8))
                        continue;
                    int kk = e % (BK / 8) * 8, at = e / (BK / 8);
                    int row = first_y + at, k = k_ahead + kk;
                    half *to = &tile_A[into][at][kk];
                    __pipeline_memcpy_async(to, &A[row * K + k], 16);
                }
            } else {
                #pragma unroll
                for (int i = 0; i < (BM * (BK / 8) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BM * (BK / 8) % (NR_WARPS * 32) != 0 && e >= BM * (BK / 8))
                        continue;
                    int kk = e % (BK / 8) * 8, at = e / (BK / 8);
                    int row = first_y + at, k = k_ahead + kk;
                    half *to = &tile_A[into][at][kk];
                    bool whole = k + 7 < K && row < M;
                    if (whole) {
                        const half *value = &A[row * K + k];
                        whole = ((size_t)value & 15) == 0;
                        if (whole)
                            __pipeline_memcpy_async(to, value, 16);
                    }
                    if (!whole)
                        for (int u = 0; u < 8; u++, k++) {
                        half value = half(0.0f);
                        if (k < K && row < M) {
                            value = A[row * K + k];
                        }
                        to[u] = value;
                    }
                }
            }
            if (wide_tile_B && k_ahead + BK <= K) {
                #pragma unroll
                for (int i = 0; i < (BK * (BN / 8) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BK * (BN / 8) % (NR_WARPS * 32) != 0 && e >= BK * (BN / 8))
                        continue;
                    int at = e % (BN / 8) * 8, kk = e / (BN / 8);
                    int col = first_x + at, k = k_ahead + kk;
                    half *to = &tile_B[into][kk][at];
                    __pipeline_memcpy_async(to, &B[k * N + col], 16);
                }
            } else {
                #pragma unroll
                for (int i = 0; i < (BK * (BN / 8) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i++) {
                    int e = tid + i * (NR_WARPS * 32);
                    if (BK * (BN / 8) % (NR_WARPS * 32) != 0 && e >= BK * (BN / 8))
                        continue;
                    int at = e % (BN / 8) * 8, kk = e / (BN / 8);
                    int col = first_x + at, k = k_ahead + kk;
                    half *to = &tile_B[into][kk][at];
                    bool whole = k < K && col < N;
                    int last = col + 7;
                    {
                        int col = last;
                        whole = whole && col < N;
                    }
                    if (whole) {
                        const half *value = &B[k * N + col];
                        whole = ((size_t)value & 15) == 0;
                        if (whole)
                            __pipeline_memcpy_async(to, value, 16);
                    }
                    if (!whole)
                        for (int u = 0; u < 8; u++, col++) {
                        half value = half(0.0f);
                        if (k < K && col < N) {
                            value = B[k * N + col];
                        }
                        to[u] = value;
                    }
                }
            }
            into = into + 1 == STAGES ? 0 : into + 1;
        }
        __pipeline_commit();
        if (k0 >= first_k) {
            #pragma unroll
            for (int kk = 0; kk < BK; kk += 16) {
                nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half,
                    nvcuda::wmma::row_major> part_A[WM / 16];
                #pragma unroll
                for (int i = 0; i < WM / 16; i++) {
                    nvcuda::wmma::load_matrix_sync(part_A[i], &tile_A[from][warp_y + i * 16][kk], BK + 8);
                }
                nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half,
                    nvcuda::wmma::row_major> part_B[WN / 16];
                #pragma unroll
                for (int i = 0; i < WN / 16; i++) {
                    nvcuda::wmma::load_matrix_sync(part_B[i], &tile_B[from][kk][warp_x + i * 16], BN + 8);
                }
                #pragma unroll
                for (int i = 0; i < WM / 16; i++)
                    #pragma unroll
                    for (int j = 0; j < WN / 16; j++)
                        nvcuda::wmma::mma_sync(sums2[i][j], part_A[i], part_B[j], sums2[i][j]);
            }
            from = from + 1 == STAGES ? 0 : from + 1;
        }
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        #pragma unroll
        for (int j = 0; j < WN / 16; j++) {
            nvcuda::wmma::store_matrix_sync(
                patch, sums2[i][j], 16, nvcuda::wmma::mem_row_major);
            __syncwarp();
            for (int u = threadIdx.x; u < 16 * 16; u += 32) {
                int row = first_y + warp_y + i * 16 + u / 16;
                int col = first_x + warp_x + j * 16 + u % 16;
                if (row < M && col < N) {
                    float sum = patch[u];
                    C[row * N + col] = __float2half(sum);
                }
            }
            __syncwarp();
        }
    }
}
