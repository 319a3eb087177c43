// The caller chooses the block as well, the same in both directions.
__global__ void shade(float *image, const float *light, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * width + x] *= light[x];
}

void draw(float *image, const float *light, int width, int height, int side)
{
    dim3 block(side, side), grid((width + side - 1) / side, (height + side - 1) / side);
    shade<<<grid, block>>>(image, light, width, height);
}
