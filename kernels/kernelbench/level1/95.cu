// Cross entropy of whole-numbered classes: a loss per row, then one thread takes their mean.
#pragma keet temp   PART : f32[batch_size]
#pragma keet tune   BLOCK = 32 in {32, 64}
#pragma keet launch losses<<<ceil_div(batch_size, BLOCK), BLOCK>>>(predictions, targets, PART, batch_size, num_classes)
#pragma keet launch mean<<<1, 1>>>(PART, y, batch_size)

__global__ void losses(const float *x, const long long *label, float *part, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    x += row * cols;
    float most = x[0], sum = 0;
    for (int i = 1; i < cols; i++)
        most = fmaxf(most, x[i]);
    for (int i = 0; i < cols; i++)
        sum += expf(x[i] - most);
    part[row] = logf(sum) + most - x[label[row]];
}

__global__ void mean(const float *part, float *y, int rows)
{
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum += part[i];
    *y = sum / rows;
}
