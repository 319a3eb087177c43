// half2 and float4 through casts of plain pointers.
#include <cuda_fp16.h>

__global__ void relu2(const half *x, half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i < n) {
        half2 v = reinterpret_cast<const half2 *>(x)[i];
        reinterpret_cast<half2 *>(y)[i] = __hmax2(v, __float2half2_rn(0.0f));
    }
}

int main()
{
    int n = 1 << 12;
    half *x, *y;
    cudaMalloc(&x, n * sizeof(half));
    cudaMalloc(&y, n * sizeof(half));
    relu2<<<n / 2 / 128, 128>>>(x, y, n);
}
