// A kernel that is handed to the function which launches it, and one that a variable has.
#include <cstdio>

__global__ void scale(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

float run(void (*kernel)(float *, const float *, int), dim3 grid, dim3 block, const int n);

int main()
{
    void (*chosen)(float *, const float *, int) = scale;
    const int n = 3000;
    dim3 block(128), grid((n + 127) / 128);

    printf("%f\n", run(chosen, grid, block, n));
}

float run(void (*kernel)(float *, const float *, int), dim3 grid, dim3 block, const int n)
{
    float *x, *y, first;

    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    kernel<<<grid, block>>>(y, x, n);
    cudaMemcpy(&first, y, sizeof(float), cudaMemcpyDeviceToHost);
    return first;
}
