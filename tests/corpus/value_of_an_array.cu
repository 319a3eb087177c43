// A size that is an element of an array which is an argument too: both are called shape.
#include <cuda_runtime.h>

__global__ void row_minimum(const float *input, float *output, const int *shape, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;

    if (row >= rows)
        return;
    float least = input[row * columns];
    for (int c = 1; c < columns; c++)
        least = fminf(least, input[row * columns + c]);
    output[row] = least * (shape[0] > 0 ? 1.0f : 0.5f);
}

extern "C" void solution(const float *input, float *output, int *shape, int dim, int rows)
{
    int columns = shape[dim];

    row_minimum<<<(rows + 127) / 128, 128>>>(input, output, shape, rows, columns);
}
