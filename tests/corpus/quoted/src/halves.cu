// Its headers are quoted by names that CUDA's own begin with too; the Makefile above says where they are.
#include "cuda/Half.cuh"
#include <cuda_runtime.h>
#ifndef WIDTH
#define WIDTH 128
#endif

__global__ void halves(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = half_of(x[i]);
}

int main()
{
    const int n = 4096;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    halves<<<(n + WIDTH - 1) / WIDTH, WIDTH>>>(x, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
