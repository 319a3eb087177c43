#pragma keet tune   BLOCK = 32 in {32, 64, 128}
#pragma keet temp   SCORES : f32[rows][classes]
#pragma keet launch scores<<<dim3(ceil_div(classes, 32), rows), 32>>>(x, linear_weight, linear_bias, temperature, SCORES, width, classes)
#pragma keet launch softmax<<<ceil_div(rows, BLOCK), BLOCK>>>(SCORES, y, rows, classes)

__global__ void scores(const float *x, const float *weight, const float *bias, float temperature,
                       float *out, int width, int classes)
{
    int row = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= classes)
        return;
    float sum = bias[c];
    for (int i = 0; i < width; i++)
        sum += x[row * width + i] * weight[c * width + i];
    out[row * classes + c] = sum / temperature;
}

__global__ void softmax(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float most = x[row * cols], sum = 0;
    for (int i = 1; i < cols; i++)
        most = fmaxf(most, x[row * cols + i]);
    for (int i = 0; i < cols; i++)
        sum += expf(x[row * cols + i] - most);
    for (int i = 0; i < cols; i++)
        y[row * cols + i] = expf(x[row * cols + i] - most) / sum;
}
