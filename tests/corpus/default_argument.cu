// The command line may change a default that the file has.
#include <stdlib.h>

__global__ void cube(float *x, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * x[i] * x[i];
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 12345L;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cube<<<(unsigned)((n + 255) / 256), 256>>>(x, n);
}
