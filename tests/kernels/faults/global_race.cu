// Two blocks write each row, each with half of the sum.
#pragma keet launch row_sum<<<2 * ROWS, 128>>>(X, Y, ROWS, COLS)

__global__ void row_sum(const float *x, float *y, int rows, int cols)
{
    __shared__ float part[128];
    int row = blockIdx.x / 2;
    float sum = 0;
    for (int i = 128 * (blockIdx.x % 2) + threadIdx.x; i < cols; i += 256)
        sum += x[row * cols + i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[row] = part[0]; // FAULT
}
