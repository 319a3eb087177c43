// No barrier after the partial sums are stored.
#pragma keet launch row_sum<<<ROWS, 128>>>(X, Y, ROWS, COLS)

__global__ void row_sum(const float *x, float *y, int rows, int cols)
{
    __shared__ float part[128];
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 128)
        sum += x[blockIdx.x * cols + i];
    part[threadIdx.x] = sum;
    if (threadIdx.x == 0) {
        for (int i = 1; i < 128; i++)
            sum += part[i]; // FAULT
        y[blockIdx.x] = sum;
    }
}
