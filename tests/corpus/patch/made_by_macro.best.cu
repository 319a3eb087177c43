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

// The task, as read from the host code of tests/corpus/patch/made_by_macro.cu.
// from line 38: const int n = 1000
#pragma keet size   n = 1000
// from line 41: cudaMalloc(&x, n * sizeof(float)); read and written by the kernel
#pragma keet inout  x : f32[n]
// from line 33: MAKE_SCALE(f32, float,
#pragma keet launch scale_f32_kernel<<<(n+63)/64, 64>>>(x, n)
