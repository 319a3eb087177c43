// Linked of two files with relocatable device code.
#include <cstdio>

__device__ int twice(int x);

__global__ void twice_all(int *x, int n)
{
    int i = threadIdx.x;
    if (i < n)
        x[i] = twice(x[i]);
}

int main()
{
    int host[32], *x, wrong = 0;
    for (int i = 0; i < 32; i++)
        host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    twice_all<<<1, 32>>>(x, 32);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        wrong += host[i] != 2 * i;
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
