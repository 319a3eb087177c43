// Half precision by vectors of two; the sizes come from the command line only.
#include <cuda_fp16.h>
#include <cstdlib>

__global__ void scale(half2 *x, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        x[i] = __hmul2(x[i], __float2half2_rn(0.5f));
}

int main(int argc, char **argv)
{
    int pairs = atoi(argv[1]);
    half2 *x;
    cudaMalloc(&x, pairs * sizeof(half2));
    scale<<<(pairs + 63) / 64, 64>>>(x, pairs);
}
