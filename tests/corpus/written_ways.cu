// Memory that is written in ways other than p[i] = x, and memory that is only read, without a const that says so.
#include <cstdio>
#include <cuda_runtime.h>

#define N 1024
#define FLOAT4(value) (reinterpret_cast<float4 *>(&(value))[0])
#define cells(i, j) cells[(i) * 32 + (j)]

struct View {
    float *data;
    __device__ void set(int i, float v) { data[i] = v; }
};

template <int STEP>
__device__ float *row(float *p, int i)
{
    return p + i * STEP;
}

__device__ float &element(float *p, int i)
{
    return p[i];
}

__device__ void put(float &slot, float v)
{
    slot = v;
}

__global__ void by_macros(const float *x, float *vectors, float *cells)
{
    int i = threadIdx.x;
    FLOAT4(vectors[4 * i]) = make_float4(x[i], 1, 2, 3);
    cells(i / 32, i % 32) = x[i];
    cells(i / 32 + 8, i % 32) = x[i];
    cells(i / 32 + 16, i % 32) = x[i];
    cells(i / 32 + 24, i % 32) = x[i];
}

__global__ void by_functions(float *x, float *rows, float *elements, float *slots)
{
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        *row<1>(rows, i) = *row<1>(x, i);
        element(elements, i) = element(x, i) + __ldg(&x[i]);
        put(slots[i], x[i]);
    }
}

__global__ void by_names(float *x, float *late, float *chosen, float *same)
{
    float *p, *q = threadIdx.x < 512 ? chosen : chosen + 0;
    float &r = same[threadIdx.x];
    p = late + threadIdx.x;
    *p = x[threadIdx.x];
    q[threadIdx.x] = x[threadIdx.x];
    r = x[threadIdx.x];
}

__global__ void by_struct(float *x, float *viewed)
{
    View v{viewed};
    if (x != nullptr)
        v.set(threadIdx.x, FLOAT4(x[threadIdx.x / 4 * 4]).y);
}

__global__ void by_asm(const float *x, float *stored)
{
    asm volatile("st.global.f32 [%0], %1;" ::"l"(stored + threadIdx.x), "f"(x[threadIdx.x]) : "memory");
}

int main()
{
    float *x, *vectors, *cells, *rows, *elements, *slots, *late, *chosen, *same, *viewed, *stored;
    cudaMalloc(&x, N * sizeof(float));
    cudaMalloc(&vectors, N * sizeof(float));
    cudaMalloc(&cells, N * sizeof(float));
    cudaMalloc(&rows, N * sizeof(float));
    cudaMalloc(&elements, N * sizeof(float));
    cudaMalloc(&slots, N * sizeof(float));
    cudaMalloc(&late, N * sizeof(float));
    cudaMalloc(&chosen, N * sizeof(float));
    cudaMalloc(&same, N * sizeof(float));
    cudaMalloc(&viewed, N * sizeof(float));
    cudaMalloc(&stored, N * sizeof(float));
    by_macros<<<1, 256>>>(x, vectors, cells);
    by_functions<<<1, 256>>>(x, rows, elements, slots);
    by_names<<<1, 1024>>>(x, late, chosen, same);
    by_struct<<<1, 1024>>>(x, viewed);
    by_asm<<<1, 1024>>>(x, stored);
    cudaDeviceSynchronize();
}
