// Four warps a row.
__global__ void row_sums(const double *__restrict__ a, double *__restrict__ b, int n)
{
    __shared__ double parts[4];
    double sum = 0;

    for (int j = threadIdx.x; j < n; j += 128)
        sum += a[blockIdx.x * n + j];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        b[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}

#pragma keet size   ROWS = 64
#pragma keet in     a : f64[ROWS*100]
#pragma keet out    b : f64[ROWS]
#pragma keet launch row_sums<<<ROWS, 128>>>(a, b, 100)
