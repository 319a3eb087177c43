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
    scale_each<<<(rows * columns + 255) / 256, 256>>>(field, rows, columns, factor);
}
