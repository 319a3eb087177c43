// Sizes in bytes kept in variables of their own.
#include <stdlib.h>

__global__ void copy_rows(const int *src, int *dst, int width)
{
    for (int x = threadIdx.x; x < width; x += blockDim.x)
        dst[blockIdx.x * width + x] = src[blockIdx.x * width + x];
}

int main()
{
    int width = 320, height = 200;
    const size_t count = width * height;
    size_t bytes = count * sizeof(int);
    int *src, *dst, *host = (int *)malloc(bytes);
    cudaMalloc((void **)&src, bytes);
    cudaMalloc((void **)&dst, bytes);
    cudaMemcpy(src, host, bytes, cudaMemcpyHostToDevice);
    copy_rows<<<height, 64>>>(src, dst, width);
    cudaMemcpy(host, dst, bytes, cudaMemcpyDeviceToHost);
    free(host);
}
