// Two launches in a stream: the winner of the second one gets a tensor map, and blocks in clusters.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (i % 97) * 0.5f;
}

/* The sum of each column of a tile of 16 rows. */
__global__ void tile_sums(const float *x, float *sums, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, tile = blockIdx.y;
    float sum = 0;

    if (col >= cols)
        return;
    for (int row = tile * 16; row < tile * 16 + 16 && row < rows; row++)
        sum += x[row * cols + col];
    sums[tile * cols + col] = sum;
}

int main()
{
    const int height = 100, width = 256, tiles = (height + 15) / 16;
    float *x, *sums, host[tiles * width], all = 0;
    cudaStream_t stream;

    cudaStreamCreate(&stream);
    cudaMalloc(&x, height * width * sizeof(float));
    cudaMalloc(&sums, tiles * width * sizeof(float));
    fill<<<(height * width + 255) / 256, 256, 0, stream>>>(x, height * width);
    tile_sums<<<dim3((width + 63) / 64, tiles), 64, 0, stream>>>(x, sums, height, width);
    if (cudaStreamSynchronize(stream) != cudaSuccess)
        return 1;
    cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost);
    for (int i = 0; i < tiles * width; i++)
        all += host[i] * (i % 5);
    printf("%g %g %g\n", host[0], host[tiles * width - 1], all);
}
