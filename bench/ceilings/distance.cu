// Squared Euclidean distance from each of M points to each of N centres in D dimensions, f32.
// Fast path (D = 128, whole tiles): |p|^2 + |c|^2 - 2 p.c, the product by wgmma with each f32 split in two f16 parts
// (lo*hi + hi*lo + hi*hi, f32 sums), norms in f32. A block makes 128 points x 128 centres; a warp keeps its 16 points
// as A fragments in registers; the centres come in slices of 32. The first warpgroup starts with its 64 points at once,
// the second stages the slices 0 and 1 before it turns to its own points, the first stages 2 and 3 between products.
// Stores are what takes longest, so they start early and never wait for the block.
// Within each 16 of k the order is permuted (slots 2t, 2t+1, 2t+8, 2t+9 hold k = 4t to 4t+3), the same on both sides,
// and so are the centres of a slice, so that a thread loads and stores 16 bytes.
#pragma keet size   M = 4096, N = 512, D = 128
#pragma keet check  M = 67, N = 35, D = 33
#pragma keet check  M = 64, N = 32, D = 16
#pragma keet in     P : f32[M][D] = uniform(-1, 1)
#pragma keet in     C : f32[N][D] = uniform(-1, 1)
#pragma keet out    DIST : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 3*M*N*D, bytes = 4*(M*D + N*D + M*N)
#pragma keet launch distance<<<dim3(ceil_div(N, 128), ceil_div(M, 128)), 256, 66112>>>(P, C, DIST, M, N, D)

#include <cuda_fp16.h>

#define SLICE 16384                         // bytes of a slice: hi then lo, each two k-tiles of 32 rows of 128 bytes
#define AT_NORM (4 * SLICE)                 // 128 norms of centres
#define AT_BAR (AT_NORM + 512)              // 4 mbarriers: slice q is staged

__device__ __forceinline__ void split2(float a, float b, unsigned &hi, unsigned &lo)
{
    __half2 h = __floats2half2_rn(a, b);
    float2 r = __half22float2(h);
    __half2 l = __floats2half2_rn(a - r.x, b - r.y);
    hi = *reinterpret_cast<unsigned *>(&h);
    lo = *reinterpret_cast<unsigned *>(&l);
}

__device__ __forceinline__ float norm4(const float4 &v)
{
    return fmaf(v.x, v.x, v.y * v.y) + fmaf(v.z, v.z, v.w * v.w);
}

// Rows of k under the 128-byte swizzle.
__device__ __forceinline__ unsigned long long descriptor(unsigned at)
{
    return (unsigned long long)((at >> 4) & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ __forceinline__ void wgmma32(float (&d)[16], const unsigned (&a)[4], unsigned long long b, int keep)
{
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "setp.ne.b32 p, %21, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                 "{%16, %17, %18, %19}, %20, p, 1, 1, 0;\n\t"
                 "}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                   "+f"(d[15])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}

__device__ __forceinline__ void arrive(unsigned bar)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory");
}

__device__ __forceinline__ void wait(unsigned bar)
{
    unsigned done;
    do {
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t"
                     "}"
                     : "=r"(done) : "r"(bar) : "memory");
    } while (!done);
}

__device__ __forceinline__ void finish(float (&d)[16])
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int e = 0; e < 16; e++)
        asm volatile("" : "+f"(d[e]) :: "memory");
}

// The rows of a slice that a warp of four stages: 4 w to 4 w + 3 and 16 + 4 w to 16 + 4 w + 3.
__device__ __forceinline__ void fetch(const float *c, int w, int lane, float4 (&v)[2][4])
{
    const float4 *cp = reinterpret_cast<const float4 *>(c + (size_t)(w * 4) * 128) + lane;
#pragma unroll
    for (int r = 0; r < 4; r++)
        v[0][r] = __ldg(cp + r * 32);
#pragma unroll
    for (int r = 0; r < 4; r++)
        v[1][r] = __ldg(cp + (16 + r) * 32);
}

// Eight centres of a slice, split into the swizzled tiles; their norms beside.
__device__ __forceinline__ void stage(unsigned char *slice, float *norms, const float4 (&v)[2][4], int w, int lane)
{
    const int kt = lane >> 4;
    const int chunk = ((lane >> 2) & 3) * 2;
    const int word = (lane & 3) * 4;
    const bool b4 = lane & 16, b3 = lane & 8;
#pragma unroll
    for (int jj = 0; jj < 2; jj++) {
        float q[4];
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int n = 16 * jj + 8 * (r >> 1) + 2 * w + (r & 1);
            unsigned h0, h1, l0, l1;
            split2(v[jj][r].x, v[jj][r].y, h0, l0);
            split2(v[jj][r].z, v[jj][r].w, h1, l1);
            q[r] = norm4(v[jj][r]);
            // The upper half of the warp writes its odd chunk first: other banks than the lower half.
            unsigned char *row = slice + kt * 4096 + n * 128 + word;
            const int c0 = ((chunk + kt) ^ (n & 7)) * 16;
            const int c1 = ((chunk + 1 - kt) ^ (n & 7)) * 16;
            *reinterpret_cast<unsigned *>(row + c0) = kt ? h1 : h0;
            *reinterpret_cast<unsigned *>(row + c1) = kt ? h0 : h1;
            *reinterpret_cast<unsigned *>(row + 8192 + c0) = kt ? l1 : l0;
            *reinterpret_cast<unsigned *>(row + 8192 + c1) = kt ? l0 : l1;
        }
        // Four sums over the warp at once: row 2 * bit 4 + bit 3 of the lane.
        float s0 = (b4 ? q[2] : q[0]) + __shfl_xor_sync(0xffffffffu, b4 ? q[0] : q[2], 16);
        float s1 = (b4 ? q[3] : q[1]) + __shfl_xor_sync(0xffffffffu, b4 ? q[1] : q[3], 16);
        float s = (b3 ? s1 : s0) + __shfl_xor_sync(0xffffffffu, b3 ? s0 : s1, 8);
        s += __shfl_xor_sync(0xffffffffu, s, 4);
        s += __shfl_xor_sync(0xffffffffu, s, 2);
        s += __shfl_xor_sync(0xffffffffu, s, 1);
        if ((lane & 7) == 0)
            norms[16 * jj + w * 4 + (lane >> 3)] = s;
    }
}

// Splits the points and multiplies them with slice 0, 16 of k after 16 of k; their norms beside.
__device__ __forceinline__ void first(float (&d)[16], const float4 (&u0)[8], const float4 (&u1)[8], unsigned (&ah)[8][4],
                                      unsigned (&al)[8][4], unsigned slice, float &p0, float &p1)
{
    p0 = p1 = 0.0f;
#pragma unroll
    for (int s = 0; s < 8; s++) {
        split2(u0[s].x, u0[s].y, ah[s][0], al[s][0]);
        split2(u1[s].x, u1[s].y, ah[s][1], al[s][1]);
        split2(u0[s].z, u0[s].w, ah[s][2], al[s][2]);
        split2(u1[s].z, u1[s].w, ah[s][3], al[s][3]);
        p0 += norm4(u0[s]);
        p1 += norm4(u1[s]);
        const unsigned at = slice + (s >> 2) * 4096 + (s & 3) * 32;
        const unsigned long long bh = descriptor(at);
        const unsigned long long bl = descriptor(at + 8192);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        wgmma32(d, al[s], bh, s > 0);
        wgmma32(d, ah[s], bl, 1);
        wgmma32(d, ah[s], bh, 1);
    }
}

__device__ __forceinline__ void multiply(float (&d)[16], const unsigned (&ah)[8][4], const unsigned (&al)[8][4],
                                         unsigned slice)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int s = 0; s < 8; s++) {
        const unsigned at = slice + (s >> 2) * 4096 + (s & 3) * 32;
        const unsigned long long bh = descriptor(at);
        const unsigned long long bl = descriptor(at + 8192);
        wgmma32(d, al[s], bh, s > 0);
        wgmma32(d, ah[s], bl, 1);
        wgmma32(d, ah[s], bh, 1);
    }
}

__device__ __forceinline__ void store(float *y0, float *y1, const float *norms, const float (&d)[16], float p0, float p1,
                                      int t)
{
#pragma unroll
    for (int jj = 0; jj < 2; jj++) {
        const float4 cn = *reinterpret_cast<const float4 *>(norms + 16 * jj + 4 * t);
        float4 r;
        r.x = fmaxf(fmaf(-2.0f, d[8 * jj], p0 + cn.x), 0.0f);
        r.y = fmaxf(fmaf(-2.0f, d[8 * jj + 1], p0 + cn.y), 0.0f);
        r.z = fmaxf(fmaf(-2.0f, d[8 * jj + 4], p0 + cn.z), 0.0f);
        r.w = fmaxf(fmaf(-2.0f, d[8 * jj + 5], p0 + cn.w), 0.0f);
        *reinterpret_cast<float4 *>(y0 + 16 * jj) = r;
        r.x = fmaxf(fmaf(-2.0f, d[8 * jj + 2], p1 + cn.x), 0.0f);
        r.y = fmaxf(fmaf(-2.0f, d[8 * jj + 3], p1 + cn.y), 0.0f);
        r.z = fmaxf(fmaf(-2.0f, d[8 * jj + 6], p1 + cn.z), 0.0f);
        r.w = fmaxf(fmaf(-2.0f, d[8 * jj + 7], p1 + cn.w), 0.0f);
        *reinterpret_cast<float4 *>(y1 + 16 * jj) = r;
    }
}

__global__ void __launch_bounds__(256)
distance(const float * __restrict__ p, const float * __restrict__ c, float * __restrict__ dist, int m, int n, int d)
{
    extern __shared__ __align__(1024) unsigned char sm[];
    const int tid = threadIdx.x;
    const int j0 = blockIdx.x * 128;
    const int i0 = blockIdx.y * 128;

    if (d == 128 && (m & 127) == 0 && (n & 127) == 0 && (((size_t)p | (size_t)c | (size_t)dist) & 15) == 0) {
        const int lane = tid & 31;
        const int warp = tid >> 5;
        const int w = warp & 3;
        const int g = lane >> 2;
        const int t = lane & 3;
        const unsigned sm0 = (unsigned)__cvta_generic_to_shared(sm);
        const unsigned bar = sm0 + AT_BAR;
        float *norms = reinterpret_cast<float *>(sm + AT_NORM);
        const float *centres = c + (size_t)j0 * 128;
        const int row = i0 + warp * 16 + g;
        const float4 *pp = reinterpret_cast<const float4 *>(p + (size_t)row * 128) + t;
        float *y0 = dist + (size_t)row * n + j0 + 4 * t;
        float *y1 = y0 + (size_t)8 * n;

        if (tid < 4)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(bar + tid * 8) : "memory");
        __syncthreads();

        float4 u0[8], u1[8], v[2][4];
        unsigned ah[8][4], al[8][4];
        float acc[16];
        float p0, p1;
#pragma unroll
        for (int e = 0; e < 16; e++)
            acc[e] = 0.0f;

        // The second warpgroup's points wait until slice 0 is there: what the first needs comes first.
        if (warp >= 4) {
            fetch(centres, w, lane, v);
            stage(sm, norms, v, w, lane);
            arrive(bar);
            fetch(centres + 32 * 128, w, lane, v);
        }
#pragma unroll
        for (int s = 0; s < 8; s++) {
            u0[s] = __ldg(pp + s * 4);
            u1[s] = __ldg(pp + 8 * 32 + s * 4);
        }
        if (warp >= 4) {
            stage(sm + SLICE, norms + 32, v, w, lane);
            arrive(bar + 8);
        }

        wait(bar);
        first(acc, u0, u1, ah, al, sm0, p0, p1);
        if (warp < 4)
            fetch(centres + 64 * 128, w, lane, v);
        p0 += __shfl_xor_sync(0xffffffffu, p0, 1);
        p1 += __shfl_xor_sync(0xffffffffu, p1, 1);
        p0 += __shfl_xor_sync(0xffffffffu, p0, 2);
        p1 += __shfl_xor_sync(0xffffffffu, p1, 2);
        finish(acc);
        store(y0, y1, norms, acc, p0, p1, t);
        if (warp < 4) {
            stage(sm + 2 * SLICE, norms + 64, v, w, lane);
            arrive(bar + 16);
            fetch(centres + 96 * 128, w, lane, v);
        }

        wait(bar + 8);
        multiply(acc, ah, al, sm0 + SLICE);
        finish(acc);
        store(y0 + 32, y1 + 32, norms + 32, acc, p0, p1, t);
        if (warp < 4) {
            stage(sm + 3 * SLICE, norms + 96, v, w, lane);
            arrive(bar + 24);
        }

        wait(bar + 16);
        multiply(acc, ah, al, sm0 + 2 * SLICE);
        finish(acc);
        store(y0 + 64, y1 + 64, norms + 64, acc, p0, p1, t);

        wait(bar + 24);
        multiply(acc, ah, al, sm0 + 3 * SLICE);
        finish(acc);
        store(y0 + 96, y1 + 96, norms + 96, acc, p0, p1, t);
    } else {
        // Any size: one pair at a time.
        const int j = j0 + (tid & 127);
        if (j < n) {
            const int end = min(i0 + 128, m);
            for (int i = i0 + (tid >> 7); i < end; i += 2) {
                float sum = 0.0f;
                for (int k = 0; k < d; k++) {
                    const float diff = __ldg(p + (size_t)i * d + k) - __ldg(c + (size_t)j * d + k);
                    sum += diff * diff;
                }
                dist[(size_t)i * n + j] = sum;
            }
        }
    }
}
