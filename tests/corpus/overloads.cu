// Two kernels of one name, of which one is launched first; the type that a traits class gets is a name of the file's.
#include <cuda_fp16.h>

template <typename T> struct twice_of {
    static __device__ T apply(T x) { return x + x; }
};

template <typename T, typename Op> __global__ void transform(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = Op::apply(x[i]);
}

__global__ void halve(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 0.5f;
}

__global__ void halve(__half *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= __half(0.5f);
}

typedef float real;

void run(int n)
{
    float *x;
    cudaMalloc(&x, 3000 * sizeof(float));
    transform<real, twice_of<real>><<<12, 256>>>(x, 3000);
    halve<<<12, 256>>>(x, 3000);
}
