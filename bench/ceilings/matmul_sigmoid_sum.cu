// Y[i] = the sum over j of sigmoid(X W)[i][j], f32, in one launch. A block makes 32 rows and 64 columns; the 8
// blocks of a cluster share the rows and split the columns. Of a block's 16 warps each multiplies 32 rows by 32
// columns over its 32 of k (operands split into two f16 parts, three products, f32 sums); the parts meet in
// shared memory.
#pragma keet size   M = 512, N = 512, K = 256
#pragma keet check  M = 33, N = 65, K = 37
#pragma keet check  M = 32, N = 64, K = 32
#pragma keet in     X : f32[M][K] = uniform(-1, 1)
#pragma keet in     W : f32[K][N] = uniform(-0.2, 0.2)
#pragma keet out    Y : f32[M]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K + 5*M*N, bytes = 4*(M*K + K*N + M)
#pragma keet launch sigmoid_sums<<<dim3(8, ceil_div(M, 32)), 512, 66560>>>(X, W, Y, M, N, K) cluster(8)

#include <cuda_fp16.h>
#include <stdint.h>

__device__ __forceinline__ void split(float x, float y, uint32_t &hi, uint32_t &lo)
{
    __half2 h = __floats2half2_rn(x, y);
    float2 f = __half22float2(h);
    __half2 l = __floats2half2_rn(x - f.x, y - f.y);
    hi = *reinterpret_cast<uint32_t *>(&h);
    lo = *reinterpret_cast<uint32_t *>(&l);
}

// Products of one 16 x 8 of W (its 4 numbers of k in this lane) with both 16 x 16 of X.
#define COLUMNS(n, part) { \
        uint32_t h0, h1, l0, l1; \
        split(w[s][0].part, w[s][1].part, h0, l0); \
        split(w[s][2].part, w[s][3].part, h1, l1); \
        mma(acc[0][n], al[0], h0, h1); \
        mma(acc[1][n], al[1], h0, h1); \
        mma(acc[0][n], ah[0], l0, l1); \
        mma(acc[1][n], ah[1], l0, l1); \
        mma(acc[0][n], ah[0], h0, h1); \
        mma(acc[1][n], ah[1], h0, h1); \
    }

__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four numbers of a row from column `at` on; 0 where the row or the column lies outside.
__device__ __forceinline__ float4 edge4(const float *p, int row, int rows, int at, int columns)
{
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (row < rows) {
        const float *r = p + (size_t)row * columns;
        if (at < columns)
            v.x = r[at];
        if (at + 1 < columns)
            v.y = r[at + 1];
        if (at + 2 < columns)
            v.z = r[at + 2];
        if (at + 3 < columns)
            v.w = r[at + 3];
    }
    return v;
}

__device__ __forceinline__ float sigmoid(float s)
{
    return __fdividef(1.0f, 1.0f + __expf(-s));
}

__global__ void __launch_bounds__(512, 1) sigmoid_sums(const float *X, const float *W, float *Y, int M, int N, int K)
{
    // 64 KB: parts of the product, float4 [8 slices of k][16][32 lanes]; 1 KB: sums of 4 rows from 64 sources.
    extern __shared__ __align__(16) unsigned char raw[];
    float4 *parts = reinterpret_cast<float4 *>(raw);
    float *sums = reinterpret_cast<float *>(raw + 65536);

    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int g = lane / 4, q = lane % 4;
    const int half = warp & 1;              // 32 columns
    const int slice = warp >> 1;            // 32 of k
    const int rank = blockIdx.x;
    const int m0 = blockIdx.y * 32;

    // The other blocks must have started before they are written to; waited for at the end.
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");

    const bool vec = K % 4 == 0 && N % 4 == 0
        && ((reinterpret_cast<uintptr_t>(X) | reinterpret_cast<uintptr_t>(W)) & 15) == 0;

    float low = 0.f, high = 0.f;            // sums of rows g and g + 8 of this warp's 16 rows in the last step

    for (int n0 = rank * 64; n0 < N; n0 += 512) {
        float acc[2][4][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int n = 0; n < 4; n++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    acc[m][n][i] = 0.f;

        // Within 16 of k lane q takes 4 q to 4 q + 3, which stand for the fragment's 2 q, 2 q + 1, 2 q + 8,
        // 2 q + 9, of X and W alike. Column c of fragment n stands for column 4 c + n of the 32.
        const int col = n0 + half * 32 + g * 4;
        for (int k0 = slice * 32; k0 < K; k0 += 256) {
            float4 x[2][4], w[2][4];
            if (vec && m0 + 32 <= M && n0 + 64 <= N && k0 + 32 <= K) {
                const float *xp = X + (size_t)(m0 + g) * K + k0 + q * 4;
                const float *wp = W + (size_t)(k0 + q * 4) * N + col;
#pragma unroll
                for (int s = 0; s < 2; s++) {
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        w[s][i] = __ldg(reinterpret_cast<const float4 *>(wp + (size_t)(s * 16 + i) * N));
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        x[s][i] = __ldg(reinterpret_cast<const float4 *>(xp + (size_t)(i * 8) * K + s * 16));
                }
            } else {
#pragma unroll
                for (int s = 0; s < 2; s++)
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        x[s][i] = edge4(X, m0 + g + i * 8, M, k0 + s * 16 + q * 4, K);
                        w[s][i] = edge4(W, k0 + s * 16 + q * 4 + i, K, col, N);
                    }
            }
#pragma unroll
            for (int s = 0; s < 2; s++) {
                uint32_t ah[2][4], al[2][4];
#pragma unroll
                for (int m = 0; m < 2; m++) {
                    split(x[s][2 * m].x, x[s][2 * m].y, ah[m][0], al[m][0]);
                    split(x[s][2 * m + 1].x, x[s][2 * m + 1].y, ah[m][1], al[m][1]);
                    split(x[s][2 * m].z, x[s][2 * m].w, ah[m][2], al[m][2]);
                    split(x[s][2 * m + 1].z, x[s][2 * m + 1].w, ah[m][3], al[m][3]);
                }
                COLUMNS(0, x)
                COLUMNS(1, y)
                COLUMNS(2, z)
                COLUMNS(3, w)
            }
        }

        // Part [slice][half * 8 + m * 4 + n][lane].
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int n = 0; n < 4; n++)
                parts[(slice * 16 + half * 8 + m * 4 + n) * 32 + lane]
                    = make_float4(acc[m][n][0], acc[m][n][1], acc[m][n][2], acc[m][n][3]);
        __syncthreads();

        // Warp w now holds half w / 8, m = w / 4 % 2, n = w % 4.
        float4 s = parts[tid];
#pragma unroll
        for (int i = 1; i < 8; i++) {
            float4 p = parts[i * 512 + tid];
            s.x += p.x;
            s.y += p.y;
            s.z += p.z;
            s.w += p.w;
        }
        const int c0 = n0 + (warp / 8) * 32 + q * 8 + warp % 4;
        if (c0 < N) {
            low += sigmoid(s.x);
            high += sigmoid(s.z);
        }
        if (c0 + 4 < N) {
            low += sigmoid(s.y);
            high += sigmoid(s.w);
        }
        if (n0 + 512 < N)
            __syncthreads();
    }

    low += __shfl_xor_sync(0xffffffffu, low, 1);
    high += __shfl_xor_sync(0xffffffffu, high, 1);
    low += __shfl_xor_sync(0xffffffffu, low, 2);
    high += __shfl_xor_sync(0xffffffffu, high, 2);

    // Block r of the cluster finishes rows 4 r to 4 r + 3; each gets 64 parts of each of them.
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (q < 2) {
        int row = ((warp / 4) % 2) * 16 + q * 8 + g;
        int source = rank * 8 + (warp / 8) * 4 + warp % 4;
        uint32_t near = (uint32_t)__cvta_generic_to_shared(sums + (row % 4) * 64 + source);
        uint32_t far;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(near), "r"(row / 4));
        asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(far), "f"(q == 0 ? low : high) : "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

    if (warp < 4) {
        float y = sums[warp * 64 + lane] + sums[warp * 64 + 32 + lane];
#pragma unroll
        for (int i = 16; i > 0; i /= 2)
            y += __shfl_xor_sync(0xffffffffu, y, i);
        int row = m0 + rank * 4 + warp;
        if (lane == 0 && row < M)
            Y[row] = y;
    }
}
