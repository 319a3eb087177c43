// The grid is rounded up in floating point.
#include <math.h>

__global__ void negate(float *v, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n)
        v[i] = -v[i];
}

int main()
{
    int n = 10000;
    float *v;
    cudaMalloc(&v, sizeof(float) * n);
    int threads = 512;
    int blocks = (int)ceil((float)n / threads);
    negate<<<blocks, threads>>>(v, n);
    cudaFree(v);
}
