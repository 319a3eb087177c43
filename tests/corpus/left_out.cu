// Of three launches, one takes elements with pointers, and one has no blocks.
#include <cuda_runtime.h>

struct node {
    node *next;
    int value;
};

__global__ void unlink(node *nodes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) nodes[i].next = nullptr;
}

__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

__global__ void clear(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0;
}

int main()
{
    const int n = 4096;
    int nr_found = 0;
    float *x;
    node *nodes;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&nodes, n * sizeof(node));
    unlink<<<n / 128, 128>>>(nodes, n);
    scale<<<n / 128, 128>>>(x, n);
    clear<<<nr_found, 128>>>(x, n);
    return 0;
}
