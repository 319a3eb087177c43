// Two launches in sequence with an array between them that never leaves the device.
#include <stdio.h>

__global__ void square(const float *x, float *squares, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        squares[i] = x[i] * x[i];
}

__global__ void add_up(const float *squares, float *total, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(total, squares[i]);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4096;
    int threads = 128;
    float *x, *squares, *total, result;
    cudaMalloc(&x, sizeof(float) * n);
    cudaMalloc(&squares, sizeof(float) * n);
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    square<<<(n + threads - 1) / threads, threads>>>(x, squares, n);
    add_up<<<32, threads>>>(squares, total, n);
    cudaMemcpy(&result, total, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", result);
}
