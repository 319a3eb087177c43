// Counters set to zero by cudaMemset, then updated by atomics.
#include <cstdint>

#define BINS 256

__global__ void histogram(const uint8_t *data, unsigned int *bins, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1u);
}

int main()
{
    size_t n = 20000;
    uint8_t *data;
    unsigned int *bins;
    cudaMalloc(&data, n);
    cudaMalloc(&bins, BINS * sizeof(unsigned int));
    cudaMemset(bins, 0, BINS * sizeof(unsigned int));
    histogram<<<16, 128>>>(data, bins, n);
}
