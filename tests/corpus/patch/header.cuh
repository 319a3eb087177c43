#pragma once
#define ROWS 64

// One warp a row.
__global__ void row_sums(const double *a, double *b, int n)
{
    double sum = 0;
    for (int j = threadIdx.x; j < n; j += 32)
        sum += a[blockIdx.x * n + j];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0)
        b[blockIdx.x] = sum;
}
