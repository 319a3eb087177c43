// Maximum over the second of three dimensions.
#pragma keet tune   BLOCK = 32 in {32, 64}
#pragma keet launch reduce<<<dim3(ceil_div(dim2, BLOCK), batch_size), BLOCK>>>(x, y, dim1, dim2)

__global__ void reduce(const float *x, float *y, int along, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols)
        return;
    x += blockIdx.y * along * cols + col;
    float most = x[0];
    for (int i = 0; i < along; i++)
        most = fmaxf(most, x[i * cols]);
    y[blockIdx.y * cols + col] = most;
}
