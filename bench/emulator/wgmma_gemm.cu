// bf16 product by wgmma and tensor copies, 128 x 256 outputs a block: tests/kernels/tensor/wgmma_bf16.cu on a smaller matrix.
#pragma keet size   M = 512, N = 512, K = 1024
#pragma keet check  M = 256, N = 512, K = 512
#pragma keet in     A : bf16[M][K]
#pragma keet in     B : bf16[N][K]
#pragma keet out    C : bf16[M][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   bf16_flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet launch gemm<<<dim3(N/256, M/128), 384, 4*(128+256)*64*2 + 1024>>>(tensor_map(A, box(64, 128), swizzle(128)), tensor_map(B, box(64, 256), swizzle(128)), C, M, N, K)
#include <cuda.h>
#include <cuda_bf16.h>

constexpr int BM = 128, BN = 256, BK = 64, STAGES = 4;

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
__device__ __forceinline__ void mma(float (&d)[128], unsigned long long a, unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, 1, 1, 1, 0, 0;"
        : R32(0), R32(32), R32(64), R32(96) : "l"(a), "l"(b));
}

__global__ __launch_bounds__(384) void gemm(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ __align__(8) unsigned long long bars[2 * STAGES];
    const unsigned s = (unsigned)__cvta_generic_to_shared(smem), full = (unsigned)__cvta_generic_to_shared(bars), empty = full + 8 * STAGES;
    const unsigned stage_bytes = (BM + BN) * BK * 2;
    const int group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(full + 8 * i, 1);
            init(empty + 8 * i, 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int k = 0; k < K / BK; k++) {
                const int i = k % STAGES;
                wait(empty + 8 * i, (k / STAGES + 1) & 1);
                expect(full + 8 * i, stage_bytes);
                load(s + i * stage_bytes, &mapA, k * BK, blockIdx.y * BM, full + 8 * i);
                load(s + i * stage_bytes + BM * BK * 2, &mapB, k * BK, blockIdx.x * BN, full + 8 * i);
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float d[128];
#pragma unroll
        for (int i = 0; i < 128; i++)
            d[i] = 0;
        for (int k = 0; k < K / BK; k++) {
            const int i = k % STAGES;
            const unsigned a = s + i * stage_bytes + (group - 1) * 64 * BK * 2, b = s + i * stage_bytes + BM * BK * 2;
            wait(full + 8 * i, k / STAGES & 1);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int q = 0; q < BK / 16; q++)
                mma(d, desc(a + 32 * q), desc(b + 32 * q));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (threadIdx.x % 128 == 0)
                arrive(empty + 8 * i);
        }
        const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
        const int row = blockIdx.y * BM + (group - 1) * 64 + warp * 16 + lane / 4, col = blockIdx.x * BN + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < 32; j++) {
            *(__nv_bfloat162 *)&C[(size_t)row * N + col + 8 * j] = __floats2bfloat162_rn(d[4 * j], d[4 * j + 1]);
            *(__nv_bfloat162 *)&C[(size_t)(row + 8) * N + col + 8 * j] = __floats2bfloat162_rn(d[4 * j + 2], d[4 * j + 3]);
        }
    }
}
