#include <cstdio>
#include "bins.h"

#define BIN_SHIFT 2

#include "histogram_kernel.cu"

#define AFTER 1

int main()
{
    const int n = 20000;
    unsigned char *in;
    unsigned *bins;

    cudaMalloc(&in, n);
    cudaMalloc(&bins, NR_BINS * sizeof(unsigned));
    cudaMemset(in, 7, n);
    cudaMemset(bins, 0, NR_BINS * sizeof(unsigned));
    count_all(in, bins, n);
    cudaDeviceSynchronize();
    return 0;
}
