// bfloat16, from the header's own type names.
#include <cuda_bf16.h>

typedef __nv_bfloat16 floatX;

__global__ void residual(floatX *out, const floatX *a, const floatX *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (floatX)((float)a[i] + (float)b[i]);
}

int main()
{
    int n = 3 * 1024;
    floatX *d_out, *d_a, *d_b;
    cudaMalloc(&d_out, n * sizeof(floatX));
    cudaMalloc(&d_a, n * sizeof(floatX));
    cudaMalloc(&d_b, n * sizeof(floatX));
    residual<<<n / 256, 256>>>(d_out, d_a, d_b, n);
}
