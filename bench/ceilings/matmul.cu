// Matrix product C = A B of row-major f32 matrices on tensor cores. Each f32 number is split into two f16
// parts; lo*hi + hi*lo + hi*hi with f32 sums. A block makes 128 x 128 outputs over one half of k: two producer
// warpgroups load, split and stage tiles, two consumer warpgroups multiply. The two blocks of a cluster exchange
// partial sums through distributed shared memory.
#pragma keet size   M = 1024, N = 1024, K = 1024
#pragma keet check  M = 129, N = 65, K = 33
#pragma keet check  M = 64, N = 96, K = 128
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet launch matmul<<<dim3(2*ceil_div(N,128), ceil_div(M,128)), 512, 230464>>>(A, B, C, M, N, K) cluster(2)

#include <cuda_fp16.h>
#include <stdint.h>

// Shared memory: 3 stages of 64 KB: A hi, A lo (128 rows of 64 k, 128 bytes each, swizzled), B hi, B lo (2 column
// groups of 64, of 64 rows of k of 128 bytes, swizzled); then 32 KB for the partial sums that the other block
// sends; then the mbarriers.
#define STAGES 3
#define STAGE  65536
#define A_LO   16384
#define B_HI   32768
#define B_LO   49152
#define RED    (STAGES * STAGE)
#define BARS   (RED + 32768)

__device__ __forceinline__ void split2(float x, float y, uint32_t &hi, uint32_t &lo)
{
    __half2 h = __floats2half2_rn(x, y);
    float2 f = __half22float2(h);
    __half2 l = __floats2half2_rn(x - f.x, y - f.y);
    hi = *reinterpret_cast<uint32_t *>(&h);
    lo = *reinterpret_cast<uint32_t *>(&l);
}

// d[64 x 128] += a[64 x 16] (rows of k) * b[16 x 128] (rows of n), both in shared memory
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7,"
        " %8, %9, %10, %11, %12, %13, %14, %15,"
        " %16, %17, %18, %19, %20, %21, %22, %23,"
        " %24, %25, %26, %27, %28, %29, %30, %31,"
        " %32, %33, %34, %35, %36, %37, %38, %39,"
        " %40, %41, %42, %43, %44, %45, %46, %47,"
        " %48, %49, %50, %51, %52, %53, %54, %55,"
        " %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1, 0, 1;\n}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
          "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
          "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
          "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
          "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(1));
}

__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity)
{
    uint32_t done;
    do {
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
            : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    } while (!done);
}

__device__ __forceinline__ void arrive(uint32_t bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory");
}

// Four numbers of a row from `at` on; those at limit and behind it are 0.
__device__ __forceinline__ float4 load4(const float *p, int at, int limit, bool vec)
{
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (vec) {
        if (at < limit)
            v = __ldg(reinterpret_cast<const float4 *>(p));
    } else {
        if (at < limit)
            v.x = p[0];
        if (at + 1 < limit)
            v.y = p[1];
        if (at + 2 < limit)
            v.z = p[2];
        if (at + 3 < limit)
            v.w = p[3];
    }
    return v;
}

__device__ __forceinline__ void stage4(uint32_t hi_at, uint32_t lo_at, const float4 &v)
{
    uint32_t h0, h1, l0, l1;
    split2(v.x, v.y, h0, l0);
    split2(v.z, v.w, h1, l1);
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" :: "r"(hi_at), "r"(h0), "r"(h1) : "memory");
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" :: "r"(lo_at), "r"(l0), "r"(l1) : "memory");
}

__global__ void __launch_bounds__(512, 1) matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    const uint32_t smem = ((uint32_t)__cvta_generic_to_shared(raw) + 1023u) & ~1023u;
    const uint32_t full = smem + BARS, empty = full + 8 * STAGES;

    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int rank = blockIdx.x & 1;
    const int n0 = (blockIdx.x >> 1) * 128;
    const int m0 = blockIdx.y * 128;

    if (tid == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(full + 8 * s), "r"(8) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(empty + 8 * s), "r"(8) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    // The other block must have started before it is written to; waited for at the end.
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");

    const int total = (K + 63) / 64;
    const int half_tiles = (total + 1) / 2;
    const int k0 = rank * half_tiles * 64;
    int tiles = total - rank * half_tiles;
    tiles = tiles < 0 ? 0 : (tiles > half_tiles ? half_tiles : tiles);
    int kend = k0 + tiles * 64;
    kend = kend < K ? kend : K;

    if (warp >= 8) {
        // Producers. A: 16 lanes take a row of 64 k; rows 16 apart. B: a warp takes a row of 128 n; rows 8 apart.
        const bool vec = K % 4 == 0 && N % 4 == 0
            && ((reinterpret_cast<uintptr_t>(A) | reinterpret_cast<uintptr_t>(B)) & 15) == 0;
        const int pw = warp - 8;
        const int arow = pw * 2 + lane / 16;
        const int acol = (lane % 16) * 4;
        const int bcol = n0 + lane * 4;
        const int chunk = (lane % 16) / 2;
        const uint32_t a_to = smem + arow * 128 + ((chunk ^ (arow & 7)) * 16) + (lane & 1) * 8;
        const uint32_t b_to = smem + B_HI + (lane / 16) * 8192 + pw * 128 + ((chunk ^ pw) * 16) + (lane & 1) * 8;

        float4 ra[8], rb[8];
        auto load_a = [&](int i, int t) {
            int row = m0 + arow + i * 16, k = k0 + t * 64 + acol;
            bool in = row < M && k < kend;
            ra[i] = load4(in ? A + (size_t)row * K + k : A, k, in ? kend : 0, vec);
        };
        auto load_b = [&](int i, int t) {
            int k = k0 + t * 64 + pw + i * 8;
            bool in = k < kend && bcol < N;
            rb[i] = load4(in ? B + (size_t)k * N + bcol : B, bcol, in ? N : 0, vec);
        };

#pragma unroll
        for (int i = 0; i < 8; i++) {
            load_a(i, 0);
            load_b(i, 0);
        }
        int s = 0;
        uint32_t phase = 0;
        for (int t = 0; t < tiles; t++) {
            wait(empty + 8 * s, phase ^ 1);     // passes at once for the first round
            const uint32_t at = s * STAGE;
#pragma unroll
            for (int i = 0; i < 8; i++) {
                stage4(a_to + at + i * 2048, a_to + at + i * 2048 + A_LO, ra[i]);
                load_a(i, t + 1);
                stage4(b_to + at + i * 1024, b_to + at + i * 1024 + (B_LO - B_HI), rb[i]);
                load_b(i, t + 1);
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (lane == 0)
                arrive(full + 8 * s);
            if (++s == STAGES) {
                s = 0;
                phase ^= 1;
            }
        }
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    } else {
        // Consumers: 64 rows each warpgroup.
        const int group = warp / 4;
        float acc[64];
#pragma unroll
        for (int i = 0; i < 64; i++)
            acc[i] = 0.f;

        int s = 0, before = 0;
        uint32_t phase = 0;
        for (int t = 0; t < tiles; t++) {
            wait(full + 8 * s, phase);
            const uint32_t a_at = smem + s * STAGE + group * 8192;
            const uint32_t b_at = smem + s * STAGE + B_HI;
            const uint64_t a_rest = 1ull << 16 | 64ull << 32 | 1ull << 62;
            const uint64_t b_rest = 512ull << 16 | 64ull << 32 | 1ull << 62;
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint64_t ah = (uint64_t)(((a_at + j * 32) >> 4) & 0x3fff) | a_rest;
                uint64_t al = (uint64_t)(((a_at + A_LO + j * 32) >> 4) & 0x3fff) | a_rest;
                uint64_t bh = (uint64_t)(((b_at + j * 2048) >> 4) & 0x3fff) | b_rest;
                uint64_t bl = (uint64_t)(((b_at + (B_LO - B_HI) + j * 2048) >> 4) & 0x3fff) | b_rest;
                wgmma(acc, al, bh);
                wgmma(acc, ah, bl);
                wgmma(acc, ah, bh);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
            // The products of the tile before have ended: its stage is free.
            if (t > 0 && lane == 0)
                arrive(empty + 8 * before);
            before = s;
            if (++s == STAGES) {
                s = 0;
                phase ^= 1;
            }
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 64; i++)
            asm volatile("" : "+f"(acc[i]) :: "memory");

        // Block 0 of the cluster finishes columns 0 to 63, block 1 columns 64 to 127; each sends the other half.
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        uint32_t mine = smem + RED + tid * 16;
        uint32_t far;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(mine), "r"(rank ^ 1));
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float x = rank == 0 ? acc[32 + 4 * j] : acc[4 * j];
            float y = rank == 0 ? acc[33 + 4 * j] : acc[4 * j + 1];
            float z = rank == 0 ? acc[34 + 4 * j] : acc[4 * j + 2];
            float w = rank == 0 ? acc[35 + 4 * j] : acc[4 * j + 3];
            asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};"
                :: "r"(far + j * 4096), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
        }
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

        const int row0 = m0 + warp * 16 + lane / 4;
        const int row1 = row0 + 8;
        const bool pairs = N % 2 == 0 && (reinterpret_cast<uintptr_t>(C) & 7) == 0;
        float *c0 = C + (size_t)(row0 < M ? row0 : 0) * N;
        float *c1 = C + (size_t)(row1 < M ? row1 : 0) * N;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float x, y, z, w;
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(mine + j * 4096) : "memory");
            x += rank == 0 ? acc[4 * j] : acc[32 + 4 * j];
            y += rank == 0 ? acc[4 * j + 1] : acc[33 + 4 * j];
            z += rank == 0 ? acc[4 * j + 2] : acc[34 + 4 * j];
            w += rank == 0 ? acc[4 * j + 3] : acc[35 + 4 * j];
            int col = n0 + rank * 64 + j * 8 + (lane % 4) * 2;
            if (pairs) {
                if (col < N) {
                    if (row0 < M)
                        *reinterpret_cast<float2 *>(c0 + col) = make_float2(x, y);
                    if (row1 < M)
                        *reinterpret_cast<float2 *>(c1 + col) = make_float2(z, w);
                }
            } else {
                if (row0 < M && col < N)
                    c0[col] = x;
                if (row0 < M && col + 1 < N)
                    c0[col + 1] = y;
                if (row1 < M && col < N)
                    c1[col] = z;
                if (row1 < M && col + 1 < N)
                    c1[col + 1] = w;
            }
        }
    }
}
