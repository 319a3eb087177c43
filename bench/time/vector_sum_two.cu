// Sum of integers in two launches, 512 threads a block; LAST_WARP: without barriers from 64 partial sums on.
#pragma keet size   N = 1073741824
#pragma keet check  N = 100003
#pragma keet in     X : i32[N] = integers(0, 99)
#pragma keet out    P : i32[ceil_div(N, 512)]
#pragma keet out    Y : i32[1]
#pragma keet launch sum<<<ceil_div(N, 512), 512>>>(X, P, N)
#pragma keet launch sum<<<1, 512>>>(P, Y, ceil_div(N, 512))

#include "block_total.cuh"

__global__ void sum(const int *x, int *y, unsigned n)
{
    int mine = 0;
    for (unsigned i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512)
        mine += x[i];
    int total = block_total(mine);
    if (threadIdx.x == 0)
        y[blockIdx.x] = total;
}
