// Functions that a macro makes at file scope, with the kernel's name put together in it, as bindings of extensions have.
#include <cuda_runtime.h>

__global__ void scale_f32_kernel(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= 2.0f;
}

__global__ void scale_f64_kernel(double *x, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;

    for (int k = i; k < n && k < i + 2; k++)
        x[k] *= 2.0;
}

#define STRING(text) #text
#define MAKE_SCALE(tag, type, each)                                          \
    void scale_##tag(type *x, int n)                                         \
    {                                                                        \
        const char *name = STRING(scale_##tag);                              \
        dim3 block(128 / (each)); /* fewer threads, more for each */         \
        dim3 grid((n + 127) / 128);                                          \
                                                                             \
        (void)name;                                                          \
        scale_##tag##_kernel<<<grid, block>>>(reinterpret_cast<type *>(x), n); \
    }

MAKE_SCALE(f64, double, 2)
MAKE_SCALE(f32, float,
    1)

int main()
{
    const int n = 1000;
    float *x;

    cudaMalloc(&x, n * sizeof(float));
    scale_f32(x, n);
    cudaDeviceSynchronize();
    return 0;
}
