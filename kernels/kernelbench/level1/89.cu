// Running sum along each row, one row per thread.
#pragma keet tune   BLOCK = 32 in {32, 64}
#pragma keet launch running_sum<<<ceil_div(batch_size, BLOCK), BLOCK>>>(x, y, batch_size, 128)

__global__ void running_sum(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < cols; i++) {
        sum += x[row * cols + i];
        y[row * cols + i] = sum;
    }
}
