#pragma once
#include <cstdio>

// One block of one warp a row.
__global__ void row_sums(const double *__restrict__ a, double *__restrict__ b, int n)
{
    double sum = 0;
    for (int j = threadIdx.x; j < n; j += 32)
        sum += a[blockIdx.x * n + j];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0)
        b[blockIdx.x] = sum;
}
