#include "scale.h"

// Walks down the columns, one element a thread.
__global__ void scale_each(float *field, int rows, int columns, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        field[(i % rows) * columns + i / rows] *= factor;
}

void scale(float *field, int rows, int columns, float factor)
{
    const int half = half_block();

    scale_each<<<(rows * columns + 2 * half - 1) / (2 * half), 2 * half>>>(field, rows, columns, factor);
}
