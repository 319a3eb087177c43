#include <cuda_runtime.h>
#include <stdlib.h>

__global__ void fill(int *x, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = by;
}

__global__ void follow(const int *x, int *next, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        next[x[i] + 2 * n] = i;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    int *x, *next;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&next, n * sizeof(int));
    fill<<<(n + 127) / 128, 128>>>(x, 7, n);
    follow<<<(n + 127) / 128, 128>>>(x, next, n);
    return 0;
}
