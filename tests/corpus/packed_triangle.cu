// A triangle in one array: the program counts its elements in a loop, so that their number and the number of rows change
// together.
#include <cuda_runtime.h>

__global__ void row_sums(const float *packed, float *sums, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (row >= rows)
        return;
    for (int c = 0; c <= row; c++)
        sum += packed[row * (row + 1) / 2 + c];
    sums[row] = sum;
}

__global__ void divide(float *packed, const float *sums, int elems)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = 0;

    if (i >= elems)
        return;
    for (int first = 1; first <= i; first += row + 1)
        row++;
    packed[i] /= sums[row] + 1000;
}

int main()
{
    int rows = 1000, elems = 0;
    float *packed, *sums;

    for (int r = 1; r <= rows; r++)
        elems += r;
    cudaMalloc(&packed, elems * sizeof(float));
    cudaMalloc(&sums, rows * sizeof(float));
    row_sums<<<(rows + 127) / 128, 128>>>(packed, sums, rows);
    divide<<<(elems + 255) / 256, 256>>>(packed, sums, elems);
    cudaDeviceSynchronize();
    return 0;
}
