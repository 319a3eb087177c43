// One step of a GRU layer for a batch, f32: reset and update gates and the new value from X WX + BX and
// H0 WH + BH, where the reset gate weighs the hidden part of the value. One launch.
// Fast path (D = H = 256, whole tiles): a cluster of four blocks makes 64 rows x 16 states, that is 48 columns of the
// products. Blocks 0 and 1 sum over the halves of X WX, blocks 2 and 3 over those of H0 WH, by wgmma with each f32
// split in two f16 parts (hi*lo + lo*hi + hi*hi, f32 sums); a warpgroup takes 64 of the block's 128 k, its A fragments
// in registers. Block r of the cluster blends rows 16 r to 16 r + 15: warp r of each warpgroup sends its sums there
// through distributed shared memory.
// Within each 16 of k the order is permuted on both sides (slots 2t, 2t+1, 2t+8, 2t+9 hold k = 4t to 4t+3).
#pragma keet size   B = 128, D = 256, H = 256
#pragma keet check  B = 19, D = 17, H = 11
#pragma keet check  B = 16, D = 32, H = 16
#pragma keet in     X : f32[B][D] = uniform(-1, 1)
#pragma keet in     H0 : f32[B][H] = uniform(-1, 1)
#pragma keet in     WX : f32[D][3*H] = uniform(-0.1, 0.1)
#pragma keet in     WH : f32[H][3*H] = uniform(-0.1, 0.1)
#pragma keet in     BX : f32[3*H] = uniform(-0.5, 0.5)
#pragma keet in     BH : f32[3*H] = uniform(-0.5, 0.5)
#pragma keet out    H1 : f32[B][H]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*B*H*(D + H), bytes = 4*(B*D + 2*B*H + 3*H*(D + H + 2))
#pragma keet launch gru<<<dim3(4, ceil_div(H, 16), ceil_div(B, 64)), 256, 53248>>>(X, H0, WX, WH, BX, BH, H1, B, D, H) cluster(4)

#include <cuda_fp16.h>

#define TILE_BYTES 6144                     // 48 columns x 64 k of f16: rows of 128 bytes, swizzled
#define AT_LO (2 * TILE_BYTES)              // tiles: hi of both halves of k, then lo
#define AT_PART (4 * TILE_BYTES)            // 8 slots of 16 rows of partial sums: source block x half of k
#define P_STRIDE 56                         // floats a row of partial sums: 48, padded

__device__ __forceinline__ void split2(float a, float b, unsigned &hi, unsigned &lo)
{
    __half2 h = __floats2half2_rn(a, b);
    float2 r = __half22float2(h);
    __half2 l = __floats2half2_rn(a - r.x, b - r.y);
    hi = *reinterpret_cast<unsigned *>(&h);
    lo = *reinterpret_cast<unsigned *>(&l);
}

// Rows of k under the 128-byte swizzle.
__device__ __forceinline__ unsigned long long descriptor(unsigned at)
{
    return (unsigned long long)((at >> 4) & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ __forceinline__ void wgmma48(float (&d)[24], const unsigned (&a)[4], unsigned long long b, int keep)
{
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "setp.ne.b32 p, %29, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n48k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
                 "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23}, "
                 "{%24, %25, %26, %27}, %28, p, 1, 1, 0;\n\t"
                 "}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                   "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                   "+f"(d[22]), "+f"(d[23])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}

__device__ __forceinline__ float sigmoid1(float v)
{
    return __fdividef(1.0f, 1.0f + __expf(-v));
}

__device__ __forceinline__ float tanh1(float v)
{
    return 1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * v));
}

__global__ void __launch_bounds__(256)
gru(const float * __restrict__ x, const float * __restrict__ h0, const float * __restrict__ wx,
    const float * __restrict__ wh, const float * __restrict__ bx, const float * __restrict__ bh,
    float * __restrict__ h1, int batch, int d, int h)
{
    extern __shared__ __align__(1024) unsigned char sm[];
    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int warp = tid >> 5;
    const int rank = blockIdx.x;            // in the cluster
    const int j0 = blockIdx.y * 16;
    const int i0 = blockIdx.z * 64;
    // The state that this thread blends; the two rows of a warp lie two apart, in different banks.
    const int orow = (warp >> 1) * 4 + (warp & 1) + 2 * (lane >> 4);
    const int ocol = lane & 15;
    const int i = i0 + rank * 16 + orow;
    const int j = j0 + ocol;

    if (d == 256 && h == 256 && (batch & 63) == 0
        && (((size_t)x | (size_t)h0 | (size_t)wx | (size_t)wh) & 15) == 0) {
        // All blocks of the cluster run once this barrier is through; waited for before the first remote store.
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");

        const int g = lane >> 2;
        const int t = lane & 3;
        const int m = warp & 3;
        const int kh = warp >> 2;
        const int k0 = (rank & 1) * 128;
        const float *a = rank < 2 ? x : h0;
        const float *w = rank < 2 ? wx : wh;

        // All loads at once. Weights: a thread has a pair of k and four columns of each gate, a warp 16 of k.
        const int c4 = lane & 3;
        const int pair = lane >> 2;
        const float *wp = w + (size_t)(k0 + warp * 16 + 2 * pair) * 768 + j0 + c4 * 4;
        float4 w0[3], w1[3];
#pragma unroll
        for (int u = 0; u < 3; u++) {
            w0[u] = __ldg(reinterpret_cast<const float4 *>(wp + u * 256));
            w1[u] = __ldg(reinterpret_cast<const float4 *>(wp + 768 + u * 256));
        }
        // Rows of the batch: 16 rows x 64 k a warp.
        const float4 *ap = reinterpret_cast<const float4 *>(a + (size_t)(i0 + m * 16 + g) * 256 + k0 + kh * 64) + t;
        float4 a0[4], a1[4];
#pragma unroll
        for (int s = 0; s < 4; s++) {
            a0[s] = __ldg(ap + 4 * s);
            a1[s] = __ldg(ap + 8 * 64 + 4 * s);
        }
        const float bias_r = __ldg(bx + j) + __ldg(bh + j);
        const float bias_z = __ldg(bx + 256 + j) + __ldg(bh + 256 + j);
        const float bias_x = __ldg(bx + 512 + j);
        const float bias_h = __ldg(bh + 512 + j);
        const float before = __ldg(h0 + (size_t)i * 256 + j);

        // Weights into tiles [column][k]: 16 of k are two chunks of 16 bytes, a pair one word of them. Lanes of the
        // upper columns write in another order, so that no two meet in a bank.
        const int chunk = 2 * m + (pair & 1);
        const bool upper = c4 >= 2;
        unsigned char *tile = sm + kh * TILE_BYTES + (pair >> 1) * 4;
#pragma unroll
        for (int u = 0; u < 3; u++) {
            unsigned hi[4], lo[4];
            split2(w0[u].x, w1[u].x, hi[0], lo[0]);
            split2(w0[u].y, w1[u].y, hi[1], lo[1]);
            split2(w0[u].z, w1[u].z, hi[2], lo[2]);
            split2(w0[u].w, w1[u].w, hi[3], lo[3]);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int n = u * 16 + c4 * 4 + (upper ? e ^ 2 : e);
                unsigned char *to = tile + n * 128 + ((chunk ^ (n & 7)) << 4);
                *reinterpret_cast<unsigned *>(to) = upper ? hi[e ^ 2] : hi[e];
                *reinterpret_cast<unsigned *>(to + AT_LO) = upper ? lo[e ^ 2] : lo[e];
            }
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        unsigned ah[4][4], al[4][4];
#pragma unroll
        for (int s = 0; s < 4; s++) {
            split2(a0[s].x, a0[s].y, ah[s][0], al[s][0]);
            split2(a1[s].x, a1[s].y, ah[s][1], al[s][1]);
            split2(a0[s].z, a0[s].w, ah[s][2], al[s][2]);
            split2(a1[s].z, a1[s].w, ah[s][3], al[s][3]);
        }
        __syncthreads();

        const unsigned sm0 = (unsigned)__cvta_generic_to_shared(sm);
        float acc[24];
#pragma unroll
        for (int e = 0; e < 24; e++)
            acc[e] = 0.0f;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int s = 0; s < 4; s++) {
            const unsigned at = sm0 + kh * TILE_BYTES + s * 32;
            const unsigned long long wh16 = descriptor(at);
            const unsigned long long wl16 = descriptor(at + AT_LO);
            wgmma48(acc, ah[s], wl16, s > 0);
            wgmma48(acc, al[s], wh16, 1);
            wgmma48(acc, ah[s], wh16, 1);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int e = 0; e < 24; e++)
            asm volatile("" : "+f"(acc[e]) :: "memory");

        // The 16 rows of this warp go to block m of the cluster, into the slot of this block and half of k.
        const unsigned slot = sm0 + AT_PART + (((rank * 2 + kh) * 16 + g) * P_STRIDE + 2 * t) * 4;
        unsigned remote;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(slot), "r"(m));
#pragma unroll
        for (int n = 0; n < 6; n++) {
            asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};"
                         :: "r"(remote + n * 32), "f"(acc[4 * n]), "f"(acc[4 * n + 1]) : "memory");
            asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};"
                         :: "r"(remote + 8 * P_STRIDE * 4 + n * 32), "f"(acc[4 * n + 2]), "f"(acc[4 * n + 3]) : "memory");
        }
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

        const float *part = reinterpret_cast<const float *>(sm + AT_PART) + orow * P_STRIDE + ocol;
        float p[8][3];
#pragma unroll
        for (int s = 0; s < 8; s++)
#pragma unroll
            for (int e = 0; e < 3; e++)
                p[s][e] = part[s * 16 * P_STRIDE + e * 16];
        float gx[3], gh[3];
#pragma unroll
        for (int e = 0; e < 3; e++) {
            gx[e] = (p[0][e] + p[1][e]) + (p[2][e] + p[3][e]);
            gh[e] = (p[4][e] + p[5][e]) + (p[6][e] + p[7][e]);
        }
        const float reset = sigmoid1(gx[0] + gh[0] + bias_r);
        const float update = sigmoid1(gx[1] + gh[1] + bias_z);
        const float value = tanh1(gx[2] + bias_x + reset * (gh[2] + bias_h));
        h1[(size_t)i * 256 + j] = (1.0f - update) * value + update * before;
    } else if (i < batch && j < h) {
        // Any size: one state per thread.
        float gx[3], gh[3];
#pragma unroll
        for (int e = 0; e < 3; e++) {
            gx[e] = __ldg(bx + e * h + j);
            gh[e] = __ldg(bh + e * h + j);
        }
        for (int k = 0; k < d; k++) {
            const float v = __ldg(x + (size_t)i * d + k);
#pragma unroll
            for (int e = 0; e < 3; e++)
                gx[e] += v * __ldg(wx + (size_t)k * 3 * h + e * h + j);
        }
        for (int k = 0; k < h; k++) {
            const float v = __ldg(h0 + (size_t)i * h + k);
#pragma unroll
            for (int e = 0; e < 3; e++)
                gh[e] += v * __ldg(wh + (size_t)k * 3 * h + e * h + j);
        }
        const float reset = sigmoid1(gx[0] + gh[0]);
        const float update = sigmoid1(gx[1] + gh[1]);
        const float value = tanh1(gx[2] + reset * gh[2]);
        h1[(size_t)i * h + j] = (1.0f - update) * value + update * __ldg(h0 + (size_t)i * h + j);
    }
}
