// A 64 x 8 product by one warpgroup whose tiles ordinary stores bring, without a swizzle.
#include <cuda_bf16.h>
#pragma keet size   K = 64
#pragma keet in     A : bf16[64][K] = uniform(-1, 1)
#pragma keet in     B : bf16[8][K] = uniform(-1, 1)
#pragma keet out    C : f32[64][8]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet launch product<<<1, 128>>>(A, B, C, K)

/* Bricks of 8 rows of 16 bytes: the next one along k is 128 bytes on, the next rows 256. */
__device__ int place(int row, int k)
{
    return (row / 8 * 2 + k / 8) * 64 + row % 8 * 8 + k % 8;
}

__device__ unsigned long long descriptor(const void *tile)
{
    return ((unsigned)__cvta_generic_to_shared(tile) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
}

__global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int k)
{
    __shared__ __align__(128) __nv_bfloat16 left[64 * 16], right[8 * 16];
    float d[4] = {0, 0, 0, 0};

    for (int first = 0; first < k; first += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += 128)
            left[place(i / 16, i % 16)] = a[i / 16 * k + first + i % 16];
        right[place(threadIdx.x / 16, threadIdx.x % 16)] = b[threadIdx.x / 16 * k + first + threadIdx.x % 16];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(left)), "l"(descriptor(right)));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    c[row * 8 + column] = d[0], c[row * 8 + column + 1] = d[1];
    c[(row + 8) * 8 + column] = d[2], c[(row + 8) * 8 + column + 1] = d[3];
}
