// Mean of squared differences: a sum per row, then one thread adds the rows up.
#pragma keet temp   PART : f32[batch_size]
#pragma keet tune   BLOCK = 32 in {32, 64}
#pragma keet launch squares<<<ceil_div(batch_size, BLOCK), BLOCK>>>(predictions, targets, PART, batch_size, 128)
#pragma keet launch mean<<<1, 1>>>(PART, y, batch_size, 128)

__global__ void squares(const float *a, const float *b, float *part, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < cols; i++) {
        float d = a[row * cols + i] - b[row * cols + i];
        sum += d * d;
    }
    part[row] = sum;
}

__global__ void mean(const float *part, float *y, int rows, int cols)
{
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum += part[i];
    *y = sum / ((float)rows * cols);
}
