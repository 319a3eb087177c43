// The launch is warmed up, then timed in a loop: it is one launch.
#include <cstdio>

__global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}

int main()
{
    int n = 2048;
    float *x;
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaMalloc(&x, n * sizeof(*x));
    scale<<<(n + 255) / 256, 256>>>(x, 0.5f, n);
    cudaEventRecord(start);
    for (int repeat = 0; repeat < 100; repeat++)
        scale<<<(n + 255) / 256, 256>>>(x, 0.5f, n);
    cudaEventRecord(stop);
    cudaFree(x);
}
