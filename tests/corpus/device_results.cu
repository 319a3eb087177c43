// Results that stay in variables of the device: the host copies them back, or reads them where they are.
#include <cstdio>

#ifdef IN_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#define BINS 32

__device__ unsigned int counts[BINS];
__device__ real low = 1000, high;
__device__ __managed__ int visits;
__device__ float weight[2], bias[2];

__global__ void tally(const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(&counts[(int)(x[i] * weight[0] + bias[1]) & (BINS - 1)], 1u);
    atomicAdd(&visits, 1);
    if (i == 0)
        high = x[i];
    if (i == n - 1 && x[i] < low)
        low = x[i];
}

int main()
{
    const int n = 1500;
    float *x, pair[2] = {3, 4};
    unsigned int h_counts[BINS];
    real h_low, *where;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpyToSymbol(weight, pair, sizeof(pair));
    cudaMemcpyToSymbol(bias, pair, sizeof(pair));
    tally<<<(n + 127) / 128, 128>>>(x, n);
    cudaMemcpyFromSymbol(h_counts, counts, sizeof(h_counts));
    cudaMemcpyFromSymbol(&h_low, low, sizeof(real));
    cudaGetSymbolAddress((void **)&where, high);
    cudaDeviceSynchronize();
    printf("%d %u\n", visits, h_counts[0]);
}
