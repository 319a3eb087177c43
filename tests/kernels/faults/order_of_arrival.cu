// Adds partial sums in the order in which warps arrive.
#pragma keet launch row_sum<<<ROWS, 128>>>(X, Y, ROWS, COLS)

__global__ void row_sum(const float *x, float *y, int rows, int cols)
{
    __shared__ float part[128];
    __shared__ unsigned ticket;
    if (threadIdx.x == 0)
        ticket = 0;
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 128)
        sum += x[blockIdx.x * cols + i];
    part[atomicAdd(&ticket, 1u)] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int i = 0; i < 128; i++)
            sum += part[i];
        y[blockIdx.x] = sum; // FAULT
    }
}
