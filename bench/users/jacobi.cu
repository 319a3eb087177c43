// Jacobi iteration on a square: sweeps between two grids, which change places after each.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void sweep(const float *from, float *to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        to[y * n + x] = 0.25f * (from[y * n + x - 1] + from[y * n + x + 1] + from[(y - 1) * n + x] + from[(y + 1) * n + x]);
}

int main()
{
    const int n = 1024, sweeps = 20;
    size_t bytes = (size_t)n * n * sizeof(float);
    float *host = (float *)malloc(bytes), *a, *b;
    for (int i = 0; i < n * n; i++)
        host[i] = rand() / (float)RAND_MAX;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    for (int i = 0; i < sweeps; i++) {
        sweep<<<grid, block>>>(a, b, n);
        float *t = a;
        a = b;
        b = t;
    }
    cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost);
    printf("%f\n", host[n / 2 * n + n / 2]);
    return 0;
}
