// Softmax of each row, one row per thread.
#pragma keet tune   BLOCK = 32 in {32, 64, 128}
#pragma keet launch each_row<<<ceil_div(batch_size, BLOCK), BLOCK>>>(x, y, batch_size, dim)

__global__ void each_row(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    x += row * cols;
    y += row * cols;
    float most = x[0], sum = 0;
    for (int i = 1; i < cols; i++)
        most = fmaxf(most, x[i]);
    for (int i = 0; i < cols; i++)
        sum += expf(x[i] - most);
    for (int i = 0; i < cols; i++)
        y[i] = expf(x[i] - most) / sum;
}
