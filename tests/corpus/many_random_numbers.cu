// More random numbers than the host code is followed for: what is known of them is what was seen of whole ones.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

int main()
{
    const int N = 512, C = 256;
    float *h = (float *)malloc(N * C * sizeof(float)), *x, *y;
    for (int i = 0; i < N * C; i++)
        h[i] = rand() / (float)RAND_MAX - 0.5f;
    cudaMalloc(&x, N * C * sizeof(float));
    cudaMalloc(&y, N * C * sizeof(float));
    cudaMemcpy(x, h, N * C * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<(N * C + 255) / 256, 256>>>(x, y, N * C);
    cudaMemcpy(h, y, N * C * sizeof(float), cudaMemcpyDeviceToHost);
    return 0;
}
