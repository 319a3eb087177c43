// Each warp exchanges its share into the output; the last one stays.
#pragma keet launch row_sum<<<ROWS, 128>>>(X, Y, ROWS, COLS)

__global__ void row_sum(const float *x, float *y, int rows, int cols)
{
    float sum = 0;
    for (int i = 0; i < cols; i++)
        sum += x[blockIdx.x * cols + i];
    if (threadIdx.x % 32 == 0)
        atomicExch(&y[blockIdx.x], sum * (1 + 1e-6f * (float)(threadIdx.x / 32))); // FAULT
}
