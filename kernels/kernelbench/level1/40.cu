// Layer norm over all but the first dimension, one sample per thread.
#pragma keet tune   BLOCK = 32 in {32, 64}
#pragma keet launch layer_norm<<<ceil_div(batch_size, BLOCK), BLOCK>>>(x, ln_weight, ln_bias, y, batch_size, features*dim1*dim2)

__global__ void layer_norm(const float *x, const float *weight, const float *bias, float *y,
                           int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    x += row * cols;
    y += row * cols;
    float sum = 0, squares = 0;
    for (int i = 0; i < cols; i++)
        sum += x[i];
    float mean = sum / cols;
    for (int i = 0; i < cols; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(squares / cols + 1e-5f);
    for (int i = 0; i < cols; i++)
        y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}
