// A launch by cudaLaunchKernel.
#include <cstdlib>

__global__ void axpb(float *y, const float *x, float a, float b, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + b;
}

int main()
{
    unsigned n = 5000;
    float *d_y, *d_x, a = 2.5f, b = -1.0f;
    cudaMalloc((void **)&d_y, n * sizeof(*d_y));
    cudaMalloc((void **)&d_x, n * sizeof(*d_x));
    void *args[] = {&d_y, &d_x, &a, &b, &n};
    dim3 grid((n + 63) / 64), block(64);
    cudaLaunchKernel((const void *)axpb, grid, block, args, 0, nullptr);
    cudaDeviceSynchronize();
}
