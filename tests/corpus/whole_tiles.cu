// No bounds are checked: right for multiples of the tile only, and too large to be run as a whole for a check.
#include <cuda_runtime.h>

#define N (1 << 24)
#define TILE 1024

__global__ void reverse_tiles(const float *x, float *y)
{
    __shared__ float tile[TILE];
    int base = blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
        tile[i] = x[base + i];
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
        y[base + i] = tile[TILE - 1 - i];
}

int main()
{
    float *x, *y;
    int n = N;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    reverse_tiles<<<n / TILE, 256>>>(x, y);
    cudaDeviceSynchronize();
}
