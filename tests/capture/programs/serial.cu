// ptxas waits for each product of a warpgroup where a function is called between them. The modelled
// times tell the two kernels apart.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

template <bool CALLS> __global__ void products(float *out, int nr)
{
    __shared__ __align__(1024) unsigned tile[512];
    for (int i = threadIdx.x; i < 512; i += 128)
        tile[i] = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const unsigned long long at =
        ((unsigned)__cvta_generic_to_shared(tile) >> 4) | 1ull << 16 | 8ull << 32;
    float d[4] = {};
    for (int k = 0; k < nr; k++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 16; i++) {
            asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, "
                         "1, 1, 1, 0, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "l"(at));
            if (CALLS && nr > 1000)
                printf("never\n");
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

template <bool CALLS> static float us(float *out)
{
    cudaEvent_t start, end;
    float ms = 0;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventRecord(start);
    products<CALLS><<<1, 128>>>(out, 64);
    cudaEventRecord(end);
    if (cudaEventSynchronize(end) != cudaSuccess || cudaEventElapsedTime(&ms, start, end) != cudaSuccess)
        exit(1);
    return 1000 * ms;
}

int main()
{
    float *out;
    if (cudaMalloc(&out, 128 * sizeof(float)) != cudaSuccess)
        return 1;
    const float grouped = us<false>(out), one_by_one = us<true>(out);
    printf("%s: %.1f and %.1f us\n", one_by_one > 2 * grouped ? "PASS" : "FAIL", grouped, one_by_one);
    return 0;
}
