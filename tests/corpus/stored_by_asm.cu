// What is written is hidden from a reader of the source: inline assembler, behind a macro.
#include <cuda_runtime.h>

#define STORE(where, value) asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(where), "f"(value) : "memory")
#define ADD(where, value) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(where), "f"(value) : "memory")

__global__ void clamp_and_count(float *x, float *y, float *above, float limit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    STORE(y + i, fminf(x[i], limit));
    if (x[i] > limit)
        ADD(above + i % 32, 1.0f);
}

int main()
{
    const int n = 5000;
    float *x, *y, *above;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&above, 32 * sizeof(float));
    clamp_and_count<<<(n + 255) / 256, 256>>>(x, y, above, 0.25f, n);
    cudaDeviceSynchronize();
}
