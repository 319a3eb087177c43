// Macros and folders of headers stand in the Makefile; one header is named in angle brackets.
#include <cstdio>
#include <range.cuh>

#ifdef CHECKED
#error "the Makefile does not say so"
#endif

__global__ void scale(REAL *x, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * STEP;

    for (int i = first; i < first + STEP && i < n; i++)
        x[i] *= FACTOR;
}

int main()
{
    const int n = 1000;
    Range all = {0, n};
    REAL *x;

    cudaMalloc(&x, all.to * sizeof(REAL));
    scale<<<(n + THREADS * STEP - 1) / (THREADS * STEP), THREADS>>>(x, n);
    cudaDeviceSynchronize();
    return 0;
}
