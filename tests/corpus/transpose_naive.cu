// Writes with a stride, in 2-D blocks that a constant sizes.
#include <vector>
const int TILE_DIM = 32;

__global__ void transpose(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

int main()
{
    const int width = 256, height = 512;
    float *in, *out;
    cudaMalloc(&in, width * height * sizeof(float));
    cudaMalloc(&out, width * height * sizeof(float));
    dim3 grid(width / TILE_DIM, height / TILE_DIM), block(TILE_DIM, TILE_DIM);
    transpose<<<grid, block>>>(out, in, width, height);
    cudaDeviceSynchronize();
    return 0;
}
