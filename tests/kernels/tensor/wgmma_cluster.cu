// As wgmma_bf16.cu, by clusters of two blocks that share their rows of A: each block brings half of the tile of A for
// both. Blocks are persistent, and the result leaves through shared memory by tensor copies.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet check  M = 256, N = 512, K = 512
#pragma keet in     A : bf16[M][K]
#pragma keet in     B : bf16[N][K]
#pragma keet out    C : bf16[M][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   bf16_flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet launch gemm<<<min(132, M/128 * (N/128)), 384, 4*(128+128)*64*2 + 128*128*2>>>(tensor_map(A, box(64, 64), swizzle(128)), tensor_map(B, box(64, 128), swizzle(128)), tensor_map(C, box(64, 64)), M, N, K) cluster(2)
#include <cuda.h>
#include <cuda_bf16.h>

constexpr int BM = 128, BN = 128, BK = 64, STAGES = 4;

__device__ __forceinline__ void init(unsigned bar, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(n)); }
__device__ __forceinline__ void expect(unsigned bar, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory"); }
__device__ __forceinline__ void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory"); }
__device__ __forceinline__ void wait(unsigned bar, unsigned parity)
{
    asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra L;\n}" :: "r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ void load(unsigned to, const CUtensorMap *map, int x, int y, unsigned bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
}
__device__ __forceinline__ unsigned long long desc(unsigned at)
{
    return (unsigned long long)(at >> 4 & 0x3fff) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}
#define R8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define R32(i) R8(i), R8(i + 8), R8(i + 16), R8(i + 24)
__device__ __forceinline__ void multicast(unsigned to, const CUtensorMap *map, int x, int y, unsigned bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
        :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(bar), "h"((unsigned short)3) : "memory");
}
__device__ __forceinline__ void arrive_at(unsigned bar, int rank)
{
    asm volatile("{\n.reg .b32 far;\nmapa.shared::cluster.u32 far, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [far];\n}" :: "r"(bar), "r"(rank) : "memory");
}
__device__ __forceinline__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void mma(float (&d)[64], unsigned long long a, unsigned long long b, int keep)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1, 0, 0;\n}"
        : R32(0), R32(32) : "l"(a), "l"(b), "r"(keep));
}

__global__ __launch_bounds__(384) void gemm(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, const __grid_constant__ CUtensorMap mapC, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ __align__(8) unsigned long long bars[2 * STAGES];
    const unsigned s = (unsigned)__cvta_generic_to_shared(smem), full = (unsigned)__cvta_generic_to_shared(bars), empty = full + 8 * STAGES;
    const unsigned stage_bytes = (BM + BN) * BK * 2, out = s + STAGES * stage_bytes;
    const int group = threadIdx.x / 128, nr_tiles = M / BM * (N / BN);
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(full + 8 * i, 1);
            init(empty + 8 * i, 4);
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    cluster_sync();
    int at = 0; // tiles of K that went by, over all tiles of C
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int tile = blockIdx.x; tile < nr_tiles; tile += gridDim.x) {
                const int row = tile / (N / BN) * BM, col = tile % (N / BN) * BN;
                for (int k = 0; k < K / BK; k++, at++) {
                    const int i = at % STAGES;
                    wait(empty + 8 * i, (at / STAGES + 1) & 1);
                    expect(full + 8 * i, stage_bytes);
                    multicast(s + i * stage_bytes + rank * 64 * BK * 2, &mapA, k * BK, row + rank * 64, full + 8 * i);
                    load(s + i * stage_bytes + BM * BK * 2, &mapB, k * BK, col, full + 8 * i);
                }
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int t = threadIdx.x % 128, lane = t % 32, warp = t / 32;
        const unsigned mine = out + (group - 1) * 64 * BN * 2;
        for (int tile = blockIdx.x; tile < nr_tiles; tile += gridDim.x) {
            const int row = tile / (N / BN) * BM, col = tile % (N / BN) * BN;
            float d[64];
#pragma unroll
            for (int i = 0; i < 64; i++)
                d[i] = 0;
            for (int k = 0; k < K / BK; k++, at++) {
                const int i = at % STAGES;
                const unsigned a = s + i * stage_bytes + (group - 1) * 64 * BK * 2, b = s + i * stage_bytes + BM * BK * 2;
                wait(full + 8 * i, at / STAGES & 1);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int q = 0; q < BK / 16; q++)
                    mma(d, desc(a + 32 * q), desc(b + 32 * q), k + q > 0);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
                if (t < 2)
                    arrive_at(empty + 8 * i, t);
            }
            // two boxes of 64 x 64, each row 128 bytes
            if (t == 0)
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory");
#pragma unroll
            for (int j = 0; j < 16; j++) {
                const unsigned to = mine + j / 8 * 64 * 128 + (warp * 16 + lane / 4) * 128 + j % 8 * 16 + lane % 4 * 4;
                const __nv_bfloat162 lo = __floats2bfloat162_rn(d[4 * j], d[4 * j + 1]), hi = __floats2bfloat162_rn(d[4 * j + 2], d[4 * j + 3]);
                asm volatile("st.shared.b32 [%0], %1;" :: "r"(to), "r"(*(const unsigned *)&lo) : "memory");
                asm volatile("st.shared.b32 [%0], %1;" :: "r"(to + 8 * 128), "r"(*(const unsigned *)&hi) : "memory");
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory");
            if (t == 0) {
                for (int half = 0; half < 2; half++)
                    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                        :: "l"(&mapC), "r"(col + 64 * half), "r"(row + (group - 1) * 64), "r"(mine + half * 64 * 128) : "memory");
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            }
        }
        if (t == 0)
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    cluster_sync();
}
