#include <cuda_pipeline.h>
#include <mma.h>
// Linear layer: Y = relu(X W + BIAS), f32. Two launches: the product with one output per thread, then
// bias and relu over the result.
#pragma keet size   M = 512, N = 512, K = 512
#pragma keet check  M = 33, N = 65, K = 37
#pragma keet check  M = 32, N = 64, K = 32
#pragma keet in     X : f32[M][K] = uniform(-1, 1)
#pragma keet in     W : f32[K][N] = uniform(-1, 1)
#pragma keet in     BIAS : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K + 2*M*N, bytes = 4*(M*K + K*N + N + M*N)
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet tune   BM = 32 in {32, 64, 128}
#pragma keet tune   BN = 64 in {32, 64, 128, 256}
#pragma keet tune   BK = 64 in {16, 32, 64}
#pragma keet tune   WM = 16 in {16, 32, 64}
#pragma keet tune   WN = 16 in {16, 32, 64}
#pragma keet tune   STAGES = 3 in {2, 3, 4}
#pragma keet where  WM <= BM && WN <= BN && (BM/WM)*(BN/WN) <= 16 && BM*BN <= 32768 && STAGES * BM * (BK + 4) * 4 + STAGES * BK * (BN + 8) * 4 <= 232448
#pragma keet launch product<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(32, (BM/WM)*(BN/WN)), max(STAGES * BM * (BK + 4) * 4 + STAGES * BK * (BN + 8) * 4, (BM/WM)*(BN/WN)*1024)>>>(X, W, Y, M, N, K)
#pragma keet launch bias_relu<<<ceil_div(M*N, BLOCK), BLOCK>>>(Y, BIAS, M*N, N)

__global__ void __launch_bounds__(32*((BM/WM)*(BN/WN))) product(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k)
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
    for (int i2 = 0; i2 < WM / 16; i2++)
        #pragma unroll
        for (int j = 0; j < WN / 16; j++)
            nvcuda::wmma::fill_fragment(sums[i2][j], 0.0f);
    const int first_k = 0, tid = threadIdx.y * 32 + threadIdx.x;
    bool wide_tile_A = true;
    for (int u = 0; u < 2; u++) {
        {
            int row = first_y + u * (BM - 1);
            wide_tile_A = wide_tile_A && row < m;
        }
        int row = first_y + u, i = first_k;
        wide_tile_A = wide_tile_A && ((size_t)&A[row * k + i] & 15) == 0;
    }
    bool wide_tile_B = true;
    for (int u = 0; u < 2; u++) {
        {
            int col = first_x + u * (BN - 1);
            wide_tile_B = wide_tile_B && col < n;
        }
        int col = first_x, i = first_k + u;
        wide_tile_B = wide_tile_B && ((size_t)&B[i * n + col] & 15) == 0;
    }
    int into = 0, from = 0;
    for (int k0 = first_k - (STAGES - 1) * BK; k0 < k; k0 += BK) {
        if (k0 >= first_k) {
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads();
        }
        const int k_ahead = k0 + (STAGES - 1) * BK;
        if (k_ahead < k) {
            if (wide_tile_A && k_ahead + BK <= k) {
                #pragma unroll
                for (int i2 = 0; i2 < (BM * (BK / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i2++) {
                    int e = tid + i2 * (NR_WARPS * 32);
                    if (BM * (BK / 4) % (NR_WARPS * 32) != 0 && e >= BM * (BK / 4))
                        continue;
                    int kk = e % (BK / 4) * 4, at = e / (BK / 4);
                    int row = first_y + at, i = k_ahead + kk;
                    float *to = &tile_A[into][at][kk];
                    __pipeline_memcpy_async(to, &A[row * k + i], 16);
                }
            } else {
                #pragma unroll
                for (int i2 = 0; i2 < (BM * (BK / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i2++) {
                    int e = tid + i2 * (NR_WARPS * 32);
                    if (BM * (BK / 4) % (NR_WARPS * 32) != 0 && e >= BM * (BK / 4))
                        continue;
                    int kk = e % (BK / 4) * 4, at = e / (BK / 4);
                    int row = first_y + at, i = k_ahead + kk;
                    float *to = &tile_A[into][at][kk];
                    bool whole = i + 3 < k && row < m;
                    if (whole) {
                        const float *value = &A[row * k + i];
                        whole = ((size_t)value & 15) == 0;
                        if (whole)
                            __pipeline_memcpy_async(to, value, 16);
                    }
                    if (!whole)
                        for (int u = 0; u < 4; u++, i++) {
                        float value = float(0.0f);
                        if (i < k && row < m) {
                            value = A[row * k + i];
                        }
                        to[u] = value;
                    }
                }
            }
            if (wide_tile_B && k_ahead + BK <= k) {
                #pragma unroll
                for (int i2 = 0; i2 < (BK * (BN / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i2++) {
                    int e = tid + i2 * (NR_WARPS * 32);
                    if (BK * (BN / 4) % (NR_WARPS * 32) != 0 && e >= BK * (BN / 4))
                        continue;
                    int at = e % (BN / 4) * 4, kk = e / (BN / 4);
                    int col = first_x + at, i = k_ahead + kk;
                    float *to = &tile_B[into][kk][at];
                    __pipeline_memcpy_async(to, &B[i * n + col], 16);
                }
            } else {
                #pragma unroll
                for (int i2 = 0; i2 < (BK * (BN / 4) + (NR_WARPS * 32) - 1) / (NR_WARPS * 32); i2++) {
                    int e = tid + i2 * (NR_WARPS * 32);
                    if (BK * (BN / 4) % (NR_WARPS * 32) != 0 && e >= BK * (BN / 4))
                        continue;
                    int at = e % (BN / 4) * 4, kk = e / (BN / 4);
                    int col = first_x + at, i = k_ahead + kk;
                    float *to = &tile_B[into][kk][at];
                    bool whole = i < k && col < n;
                    int last = col + 3;
                    {
                        int col = last;
                        whole = whole && col < n;
                    }
                    if (whole) {
                        const float *value = &B[i * n + col];
                        whole = ((size_t)value & 15) == 0;
                        if (whole)
                            __pipeline_memcpy_async(to, value, 16);
                    }
                    if (!whole)
                        for (int u = 0; u < 4; u++, col++) {
                        float value = float(0.0f);
                        if (i < k && col < n) {
                            value = B[i * n + col];
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
            for (int kk = 0; kk < BK; kk += 8) {
                nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 8, nvcuda::wmma::precision::tf32,
                    nvcuda::wmma::row_major> part_A[WM / 16], low_part_A[WM / 16];
                #pragma unroll
                for (int i2 = 0; i2 < WM / 16; i2++) {
                    nvcuda::wmma::load_matrix_sync(part_A[i2], &tile_A[from][warp_y + i2 * 16][kk], BK + 4);
                    #pragma unroll
                    for (int u = 0; u < part_A[i2].num_elements; u++) {
                        float value = part_A[i2].x[u];
                        part_A[i2].x[u] = __uint_as_float(__float_as_uint(value) & 0xffffe000u);
                        low_part_A[i2].x[u] = nvcuda::wmma::__float_to_tf32(value - part_A[i2].x[u]);
                    }
                }
                nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 8, nvcuda::wmma::precision::tf32,
                    nvcuda::wmma::row_major> part_B[WN / 16], low_part_B[WN / 16];
                #pragma unroll
                for (int i2 = 0; i2 < WN / 16; i2++) {
                    nvcuda::wmma::load_matrix_sync(part_B[i2], &tile_B[from][kk][warp_x + i2 * 16], BN + 8);
                    #pragma unroll
                    for (int u = 0; u < part_B[i2].num_elements; u++) {
                        float value = part_B[i2].x[u];
                        part_B[i2].x[u] = __uint_as_float(__float_as_uint(value) & 0xffffe000u);
                        low_part_B[i2].x[u] = nvcuda::wmma::__float_to_tf32(value - part_B[i2].x[u]);
                    }
                }
                #pragma unroll
                for (int i2 = 0; i2 < WM / 16; i2++)
                    #pragma unroll
                    for (int j = 0; j < WN / 16; j++)
                        nvcuda::wmma::mma_sync(sums[i2][j], low_part_A[i2], part_B[j], sums[i2][j]);
                #pragma unroll
                for (int i2 = 0; i2 < WM / 16; i2++)
                    #pragma unroll
                    for (int j = 0; j < WN / 16; j++)
                        nvcuda::wmma::mma_sync(sums[i2][j], part_A[i2], low_part_B[j], sums[i2][j]);
                #pragma unroll
                for (int i2 = 0; i2 < WM / 16; i2++)
                    #pragma unroll
                    for (int j = 0; j < WN / 16; j++)
                        nvcuda::wmma::mma_sync(sums[i2][j], part_A[i2], part_B[j], sums[i2][j]);
            }
            from = from + 1 == STAGES ? 0 : from + 1;
        }
    }
    __syncthreads();
    #pragma unroll
    for (int i2 = 0; i2 < WM / 16; i2++) {
        #pragma unroll
        for (int j = 0; j < WN / 16; j++) {
            nvcuda::wmma::store_matrix_sync(
                patch, sums[i2][j], 16, nvcuda::wmma::mem_row_major);
            __syncwarp();
            for (int u = threadIdx.x; u < 16 * 16; u += 32) {
                int row = first_y + warp_y + i2 * 16 + u / 16;
                int col = first_x + warp_x + j * 16 + u % 16;
                if (row < m && col < n) {
                    float sum = patch[u];
                    C[row * n + col] = sum;
                }
            }
            __syncwarp();
        }
    }
}

__global__ void bias_relu(float *__restrict__ y, const float *__restrict__ bias, int n, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(y[i] + bias[i % cols], 0.0f);
}
