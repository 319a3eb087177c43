// Sum of integers in one launch, 512 threads a block: each thread takes BATCH neighbouring elements, each block adds its
// sum to the result. VECTOR: by loads of 16 bytes.
#pragma keet size   N = 1073741824
#pragma keet check  N = 100004
#pragma keet in     X : i32[N] = integers(0, 99)
#pragma keet inout  Y : i32[1] = constant(0)
#pragma keet tune   BATCH = 1 in {1, 12}
#pragma keet launch sum<<<ceil_div(N, 512*BATCH), 512>>>(X, Y, N)

#ifndef VECTOR
#define VECTOR 0
#endif

#include "block_total.cuh"

__global__ void sum(const int *x, int *y, unsigned n)
{
    unsigned first = (blockIdx.x * 512 + threadIdx.x) * BATCH;
    int mine = 0;
#if VECTOR
#pragma unroll
    for (unsigned k = 0; k < BATCH; k += 4)
        if (first + k < n) {
            int4 v = *(const int4 *)(x + first + k);
            mine += v.x + v.y + v.z + v.w;
        }
#else
#pragma unroll
    for (unsigned k = 0; k < BATCH; k++)
        if (first + k < n)
            mine += x[first + k];
#endif
    int total = block_total(mine);
    if (threadIdx.x == 0)
        atomicAdd(y, total);
}
