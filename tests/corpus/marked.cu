#include <torch/extension.h>
// The file begins with a mark of UTF-8, before an #include of the host's.
__global__ void negate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = -x[i];
}

int main()
{
    float *x, *y;
    cudaMalloc(&x, 500 * sizeof(float));
    cudaMalloc(&y, 500 * sizeof(float));
    negate<<<4, 128>>>(x, y, 500);
}
