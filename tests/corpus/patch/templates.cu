// A template in a namespace, launched by a template; the winner has other template arguments, reads
// four values at once and asks for more shared memory than a launch has by itself.
#include <cstdio>
namespace kernels {
template <typename T, int TILE> __global__ void spread(T *y, const T *x, int rows, int cols)
{
    __shared__ T tile[TILE];
    for (int c = threadIdx.x; c < cols; c += TILE) {
        tile[threadIdx.x] = x[blockIdx.x * cols + c];
        y[blockIdx.x * cols + c] = tile[threadIdx.x] * 2;
    }
}
} // namespace kernels

template <typename T> void launch(T *out, T *in, int m, int n)
{
    kernels::spread<T, 64><<<m, 64>>>(out, in, m, n);
}

int main()
{
    const int rows = 512, cols = 1024;
    float *a, *b;
    cudaMalloc(&a, rows * cols * sizeof(float));
    cudaMalloc(&b, rows * cols * sizeof(float));
    launch<float>(b, a, rows, cols);
    return cudaDeviceSynchronize();
}
