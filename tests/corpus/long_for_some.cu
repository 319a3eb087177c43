// How long the kernel takes depends on the numbers: with those that the check makes three times as large, far longer.
#include <cstdlib>

__global__ void settle(const float *x, float *y)
{
    float value = x[threadIdx.x], left = 0;
    for (int i = 0; value > 1 && i < 1500000; i++)
        left += 0.5f * (value - left);
    y[threadIdx.x] = value + left;
}

int main()
{
    float host[32], *x, *y;
    for (int i = 0; i < 32; i++)
        host[i] = (float)rand() / RAND_MAX;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&y, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    settle<<<1, 32>>>(x, y);
}
