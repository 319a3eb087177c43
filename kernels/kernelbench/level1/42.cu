// Maximum over windows that overlap, with holes and padding, one output per thread.
#pragma keet tune   BLOCK = 64 in {32, 64}
#pragma keet launch max_pool<<<dim3(ceil_div(width - 1, BLOCK), height - 1, batch_size*channels), BLOCK>>>(x, y, height, width)

__global__ void max_pool(const float *x, float *y, int height, int width)
{
    const int window = 4, padding = 1;
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col >= width - 1)
        return;
    x += blockIdx.z * height * width;
    float most = -INFINITY;
    for (int i = 0; i < window; i++) {
        for (int j = 0; j < window; j++) {
            int r = row + i - padding, c = col + j - padding;
            if (r >= 0 && r < height && c >= 0 && c < width)
                most = fmaxf(most, x[r * width + c]);
        }
    }
    y[(blockIdx.z * (height - 1) + row) * (width - 1) + col] = most;
}
