#include <cuda.h>
// C = A B^T for bfloat16 matrices of the size that GEMMs are compared at, sums kept in f32, one output per thread.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet check  M = 256, N = 512, K = 192
#pragma keet check  M = 128, N = 256, K = 64
#pragma keet in     A : bf16[M][K] = uniform(-1, 1)
#pragma keet in     B : bf16[N][K] = uniform(-1, 1)
#pragma keet out    C : bf16[M][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet tune   BM = 128 in {64, 128}
#pragma keet tune   STAGES = 3 in {2, 3, 4, 5, 6, 8}
#pragma keet where  STAGES * (BM + 256) * 128 <= 231424 && BM * 1056 <= 231424
#pragma keet launch matmul_bf16<<<dim3(ceil_div(N, 256), ceil_div(M, BM)), 128 + 2*BM, max(STAGES * (BM + 256) * 128, BM * 1056)>>>(tensor_map(A, box(64, BM), swizzle(128)), tensor_map(B, box(64, 256), swizzle(128)), C, M, N, K)
#include <cuda_bf16.h>

__global__ void __launch_bounds__(128 + 2*BM) matmul_bf16(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long ring[2 * STAGES];
    const unsigned tiles_at = (unsigned)__cvta_generic_to_shared(tiles);
    const unsigned full = (unsigned)__cvta_generic_to_shared(ring), empty = full + 8 * STAGES;
    const int first_y = blockIdx.y * BM, first_x = blockIdx.x * 256;
    const int nr_tiles = (K + 63) / 64, warpgroup = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(full + 8 * i));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                :: "r"(empty + 8 * i), "r"(BM / 64));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warpgroup == 0) {
        if (threadIdx.x == 0)
            for (int tile = 0; tile < nr_tiles; tile++) {
                const unsigned stage = tile % STAGES, to = tiles_at + stage * ((BM + 256) * 128);
                asm volatile("{\n.reg .pred p;\nAGAIN:\n"
                    "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}"
                    :: "r"(empty + 8 * stage), "r"((tile / STAGES + 1) & 1) : "memory");
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                    :: "r"(full + 8 * stage), "r"((BM + 256) * 128) : "memory");
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                    ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                    :: "r"(to), "l"(&A), "r"(tile * 64), "r"(first_y),
                    "r"(full + 8 * stage) : "memory");
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                    ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                    :: "r"(to + BM * 128), "l"(&B), "r"(tile * 64), "r"(first_x),
                    "r"(full + 8 * stage) : "memory");
            }
        return;
    }
    float sums2[128];
    #pragma unroll
    for (int i = 0; i < 128; i++)
        sums2[i] = 0;
    for (int tile = 0; tile < nr_tiles; tile++) {
        const unsigned stage = tile % STAGES, to = tiles_at + stage * ((BM + 256) * 128);
        asm volatile("{\n.reg .pred p;\nAGAIN:\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}"
            :: "r"(full + 8 * stage), "r"(tile / STAGES & 1) : "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        #pragma unroll
        for (int u = 0; u < 128; u += 32) {
            asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                "%128, %129, 1, 1, 1, 0, 0;"
                : "+f"(sums2[0]), "+f"(sums2[1]), "+f"(sums2[2]), "+f"(sums2[3]),
                "+f"(sums2[4]), "+f"(sums2[5]), "+f"(sums2[6]), "+f"(sums2[7]),
                "+f"(sums2[8]), "+f"(sums2[9]), "+f"(sums2[10]), "+f"(sums2[11]),
                "+f"(sums2[12]), "+f"(sums2[13]), "+f"(sums2[14]), "+f"(sums2[15]),
                "+f"(sums2[16]), "+f"(sums2[17]), "+f"(sums2[18]), "+f"(sums2[19]),
                "+f"(sums2[20]), "+f"(sums2[21]), "+f"(sums2[22]), "+f"(sums2[23]),
                "+f"(sums2[24]), "+f"(sums2[25]), "+f"(sums2[26]), "+f"(sums2[27]),
                "+f"(sums2[28]), "+f"(sums2[29]), "+f"(sums2[30]), "+f"(sums2[31]),
                "+f"(sums2[32]), "+f"(sums2[33]), "+f"(sums2[34]), "+f"(sums2[35]),
                "+f"(sums2[36]), "+f"(sums2[37]), "+f"(sums2[38]), "+f"(sums2[39]),
                "+f"(sums2[40]), "+f"(sums2[41]), "+f"(sums2[42]), "+f"(sums2[43]),
                "+f"(sums2[44]), "+f"(sums2[45]), "+f"(sums2[46]), "+f"(sums2[47]),
                "+f"(sums2[48]), "+f"(sums2[49]), "+f"(sums2[50]), "+f"(sums2[51]),
                "+f"(sums2[52]), "+f"(sums2[53]), "+f"(sums2[54]), "+f"(sums2[55]),
                "+f"(sums2[56]), "+f"(sums2[57]), "+f"(sums2[58]), "+f"(sums2[59]),
                "+f"(sums2[60]), "+f"(sums2[61]), "+f"(sums2[62]), "+f"(sums2[63]),
                "+f"(sums2[64]), "+f"(sums2[65]), "+f"(sums2[66]), "+f"(sums2[67]),
                "+f"(sums2[68]), "+f"(sums2[69]), "+f"(sums2[70]), "+f"(sums2[71]),
                "+f"(sums2[72]), "+f"(sums2[73]), "+f"(sums2[74]), "+f"(sums2[75]),
                "+f"(sums2[76]), "+f"(sums2[77]), "+f"(sums2[78]), "+f"(sums2[79]),
                "+f"(sums2[80]), "+f"(sums2[81]), "+f"(sums2[82]), "+f"(sums2[83]),
                "+f"(sums2[84]), "+f"(sums2[85]), "+f"(sums2[86]), "+f"(sums2[87]),
                "+f"(sums2[88]), "+f"(sums2[89]), "+f"(sums2[90]), "+f"(sums2[91]),
                "+f"(sums2[92]), "+f"(sums2[93]), "+f"(sums2[94]), "+f"(sums2[95]),
                "+f"(sums2[96]), "+f"(sums2[97]), "+f"(sums2[98]), "+f"(sums2[99]),
                "+f"(sums2[100]), "+f"(sums2[101]), "+f"(sums2[102]), "+f"(sums2[103]),
                "+f"(sums2[104]), "+f"(sums2[105]), "+f"(sums2[106]), "+f"(sums2[107]),
                "+f"(sums2[108]), "+f"(sums2[109]), "+f"(sums2[110]), "+f"(sums2[111]),
                "+f"(sums2[112]), "+f"(sums2[113]), "+f"(sums2[114]), "+f"(sums2[115]),
                "+f"(sums2[116]), "+f"(sums2[117]), "+f"(sums2[118]), "+f"(sums2[119]),
                "+f"(sums2[120]), "+f"(sums2[121]), "+f"(sums2[122]), "+f"(sums2[123]),
                "+f"(sums2[124]), "+f"(sums2[125]), "+f"(sums2[126]), "+f"(sums2[127])
                : "l"((unsigned long long)((to + (warpgroup - 1) * 8192 + u) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62),
                "l"((unsigned long long)((to + BM * 128 + u) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (threadIdx.x % 128 == 0)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(empty + 8 * stage) : "memory");
    }
    asm volatile("bar.sync 1, %0;" :: "r"(2 * BM) : "memory");
    const int lane = threadIdx.x % 32;
    float *patch = (float *)tiles + (threadIdx.x / 32 - 4) * (16 * 264);
    #pragma unroll
    for (int i = 0; i < 32; i++) {
        float *to = patch + lane / 4 * 264 + i * 8 + lane % 4 * 2;
        *(float2 *)to = make_float2(sums2[4 * i], sums2[4 * i + 1]);
        *(float2 *)(to + 8 * 264) = make_float2(sums2[4 * i + 2], sums2[4 * i + 3]);
    }
    __syncwarp();
    for (int u = lane; u < 16 * 256; u += 32) {
        int row = first_y + (threadIdx.x / 32 - 4) * 16 + u / 256;
        int col = first_x + u % 256;
        if (row < M && col < N) {
            float sum = patch[u / 256 * 264 + u % 256];
            C[(size_t)row * N + col] = __float2bfloat16(sum);
        }
    }
}
