// One step of a right-looking LU without pivoting: divide the column, then update what is right of it.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void divide_column(float *a, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}

__global__ void update(float *a, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
    int i = blockIdx.y * blockDim.y + threadIdx.y + k + 1;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

int main()
{
    const int n = 1024, k = 0;
    float *h = (float *)malloc(n * n * sizeof(float)), *a;
    for (int i = 0; i < n * n; i++)
        h[i] = rand() / (float)RAND_MAX + (i % (n + 1) == 0 ? n : 0);
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMemcpy(a, h, n * n * sizeof(float), cudaMemcpyHostToDevice);
    divide_column<<<(n + 255) / 256, 256>>>(a, n, k);
    update<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, n, k);
    cudaMemcpy(h, a, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", h[n + 1]);
    return 0;
}
