// Sizes from the command line, without defaults: the user completes them.
#include <cstdio>
#include <cstdlib>

__global__ void accumulate(double *sum, const double *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] += x[i];
}

int main(int argc, char *argv[])
{
    if (argc != 3)
        return 1;
    const int n = atoi(argv[1]);
    const int repeat = atoi(argv[2]);
    double *sum, *x;
    cudaMalloc((void **)&sum, sizeof(double) * n);
    cudaMalloc((void **)&x, sizeof(double) * n);
    for (int i = 0; i < repeat; i++)
        accumulate<<<(n + 255) / 256, 256>>>(sum, x, n);
}
