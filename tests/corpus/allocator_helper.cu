// A helper of the file allocates.
#include <stddef.h>

static float *alloc_device(size_t count)
{
    float *p = nullptr;
    cudaMalloc(&p, count * sizeof(float));
    return p;
}

__global__ void subtract(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] - b[i];
}

int main()
{
    const int n = 1111;
    float *a = alloc_device(n), *b = alloc_device(n);
    float *c = alloc_device(n);
    subtract<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
