// Two ways of the same, each of which the host takes the result of: one task, not two in a row.
#include <cstdio>

__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

__global__ void add_up(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += x[i];
}

__global__ void twice_by_fours(const float4 *x, float4 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = make_float4(2 * x[i].x, 2 * x[i].y, 2 * x[i].z, 2 * x[i].w);
}

int main()
{
    const int n = 4096;
    float *x, *y, *host = new float[n];
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    for (int round = 0; round < 10; round++) {
        twice<<<n / 256, 256>>>(x, y, n);
        cudaMemcpy(host, y, n * sizeof(float), cudaMemcpyDeviceToHost);
        add_up<<<n / 256, 256>>>(x, y, n);
    }
    cudaMemcpy(host, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    twice_by_fours<<<n / 1024, 256>>>((float4 *)x, (float4 *)y, n / 4);
    cudaMemcpy(host, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g\n", host[0]);
}
