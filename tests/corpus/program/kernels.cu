// A program of two files: the host code that calls this one is in main.cpp.
#include "kernels.h"

__global__ void halve(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 0.5f;
}

void halve_all(const Settings &settings)
{
    float *d_x;
    cudaMalloc(&d_x, settings.count * sizeof(float));
    halve<<<(settings.count + settings.block - 1) / settings.block, settings.block>>>(d_x, settings.count);
    cudaFree(d_x);
}
