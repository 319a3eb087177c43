// Of two launches, one always writes past the end: no numbers make both run.
#include <cuda_runtime.h>

__global__ void shift(int *x, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = by;
}

__global__ void follow(const int *x, int *next, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) next[x[i] + 2 * n] = i;
}

static void launch(const int *pn)
{
    int *x, *next;
    cudaMalloc(&x, *pn * sizeof(int));
    cudaMalloc(&next, *pn * sizeof(int));
    shift<<<(*pn + 127) / 128, 128>>>(x, 7, *pn);
    follow<<<(*pn + 127) / 128, 128>>>(x, next, *pn);
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    launch(&n);
    return 0;
}
