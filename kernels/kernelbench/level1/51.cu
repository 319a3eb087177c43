// Place of the maximum over the second of three dimensions; the first of equals.
#pragma keet tune   BLOCK = 32 in {32, 64}
#pragma keet launch reduce<<<dim3(ceil_div(dim2, BLOCK), batch_size), BLOCK>>>(x, y, dim1, dim2)

__global__ void reduce(const float *x, long long *y, int along, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols)
        return;
    x += blockIdx.y * along * cols + col;
    int at = 0;
    for (int i = 0; i < along; i++)
        at = x[i * cols] > x[at * cols] ? i : at;
    y[blockIdx.y * cols + col] = at;
}
