// A kernel that takes nothing, as C says it: its data are variables of the device.
#include <cstdio>

__device__ int count = 5;
__device__ int squares[64];

void __global__ square(void);

int main(void)
{
    int host[64];

    square<<<1, 64>>>();
    cudaMemcpyFromSymbol(host, squares, sizeof(host));
    printf("%d\n", host[7]);
}

void __global__ square(void)
{
    squares[threadIdx.x] = threadIdx.x * threadIdx.x + count;
}
