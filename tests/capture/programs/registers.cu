// How many registers ptxas gave to a kernel, as the runtime tells it.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void many(float *x)
{
    float v[48];
#pragma unroll
    for (int i = 0; i < 48; i++)
        v[i] = x[threadIdx.x + 64 * i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 48; i++)
        x[threadIdx.x * 48 + i] = v[47 - i];
}

int main()
{
    cudaFuncAttributes facts;
    if (cudaFuncGetAttributes(&facts, many) != cudaSuccess)
        return 1;
    printf("Used %d registers\n", facts.numRegs);
    return 0;
}
