// What the tensor cores do by wgmma m64nNk16 of bfloat16, GROUPS warpgroups a block, a block on each SM, in bundles of four.
// FROM_REGISTERS: A is in registers. Operands lie in shared memory with 128-byte swizzles, all of them zero.
#pragma keet size   G = 132
#pragma keet check  G = 2
#pragma keet out    OUT : f32[G]
#pragma keet tune   GROUPS = 2 in {1, 2, 4}
#pragma keet launch rate<<<G, 128*GROUPS, 66560>>>(OUT)

#ifndef N
#define N 256
#endif
#ifndef FROM_REGISTERS
#define FROM_REGISTERS 0
#endif
#define R8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define R32(i) R8(i), R8(i + 8), R8(i + 16), R8(i + 24)
#if N == 64
#define RESULTS R32(0)
#define NAMES "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define A_FROM_SHARED "%32, %33"
#define A_FROM_REGISTERS "{%32, %33, %34, %35}, %36"
#elif N == 128
#define RESULTS R32(0), R32(32)
#define NAMES "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define A_FROM_SHARED "%64, %65"
#define A_FROM_REGISTERS "{%64, %65, %66, %67}, %68"
#else
#define RESULTS R32(0), R32(32), R32(64), R32(96)
#define NAMES "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define A_FROM_SHARED "%128, %129"
#define A_FROM_REGISTERS "{%128, %129, %130, %131}, %132"
#endif
#define TEXT_(n) #n
#define TEXT(n) TEXT_(n)

__device__ __forceinline__ void mma(float (&d)[N / 2], unsigned long long a, unsigned long long b)
{
#if FROM_REGISTERS
    unsigned r = (unsigned)a & 0;
    asm volatile("wgmma.mma_async.sync.aligned.m64n" TEXT(N) "k16.f32.bf16.bf16 " NAMES ", " A_FROM_REGISTERS ", 1, 1, 1, 0;"
        : RESULTS : "r"(r), "r"(r), "r"(r), "r"(r), "l"(b));
#else
    asm volatile("wgmma.mma_async.sync.aligned.m64n" TEXT(N) "k16.f32.bf16.bf16 " NAMES ", " A_FROM_SHARED ", 1, 1, 1, 0, 0;"
        : RESULTS : "l"(a), "l"(b));
#endif
}

__device__ __forceinline__ unsigned long long desc(unsigned at)
{
    return (unsigned long long)(at >> 4 & 0x3fff) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

__global__ __launch_bounds__(128 * GROUPS) void rate(float *out)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const unsigned s = (unsigned)__cvta_generic_to_shared(smem), a = s + threadIdx.x / 128 * 8192, b = s + 32768;
    float d[N / 2];
    for (int k = threadIdx.x; k < 65536 / 16; k += 128 * GROUPS)
        ((int4 *)smem)[k] = make_int4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        d[k] = 0;
    __syncthreads();
    asm volatile("fence.proxy.async;" ::: "memory");
#pragma unroll 1
    for (int i = 0; i < 64; i++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++)
            mma(d, desc(a + 32 * k), desc(b + 32 * k));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        sum += d[k];
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
