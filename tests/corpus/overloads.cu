// Two kernels of one name, of which the first takes what is passed.
#include <cuda_fp16.h>

__global__ void halve(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 0.5f;
}

__global__ void halve(__half *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= __half(0.5f);
}

int main()
{
    float *x;
    cudaMalloc(&x, 3000 * sizeof(float));
    halve<<<12, 256>>>(x, 3000);
}
