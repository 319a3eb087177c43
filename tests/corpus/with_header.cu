// The kernel stands in a header beside the file.
#include <iostream>
#include "with_header.cuh"

int main()
{
    int m = 64, n = 48;
    double *a, *b;
    cudaMallocManaged(&a, m * n * sizeof(double));
    cudaMallocManaged(&b, m * sizeof(double));
    row_sums<<<m, 32>>>(a, b, n);
    cudaDeviceSynchronize();
}
