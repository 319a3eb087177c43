// Pointers in structs: each member is memory of its own, and what a struct is called is not.
#include <cuda_runtime.h>
#include "library.h"

struct tensors {
    float *encoded, *weights;
};

class table {
    int *keys, *values;
    int n;
    void renumber();
    void create();
};

__global__ void scale(float *out, const float *w, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * w[i];
}

__global__ void number(const int *keys, int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = keys[i] + 1;
}

void table::create()
{
    cudaMalloc(&this->values, 2 * this->n * sizeof(int));
    cudaMalloc(&this->keys, this->n * sizeof(int));
}

void table::renumber()
{
    number<<<(this->n + 127) / 128, 128>>>(this->keys, this->values, this->n);
}

static void forward(tensors *t, int n)
{
    scale<<<(n + 127) / 128, 128>>>(t->encoded, t->weights, n);
}
