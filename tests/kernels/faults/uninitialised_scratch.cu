// Sums up scratch that was never cleared.
#pragma keet temp ws : f32[ROWS]
#pragma keet launch row_sum<<<ROWS, 128>>>(X, Y, ws, ROWS, COLS)

__global__ void row_sum(const float *x, float *y, float *scratch, int rows, int cols)
{
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 128)
        sum += x[blockIdx.x * cols + i];
    atomicAdd(&scratch[blockIdx.x], sum); // FAULT
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = scratch[blockIdx.x];
}
