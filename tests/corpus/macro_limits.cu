// A limit that device code names by a macro: a header of the host brings its header along.
#include <cstdio>
#include <vector>

#define FAR INT_MAX

__global__ void row_least(const int *x, int *least, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    int found = FAR;

    if (row >= rows)
        return;
    for (int i = 0; i < columns; i++)
        found = x[row * columns + i] < found ? x[row * columns + i] : found;
    least[row] = found;
}

int main()
{
    const int rows = 500, columns = 70;
    std::vector<int> x(rows * columns, 3);
    int *d_x, *d_least;

    cudaMalloc(&d_x, rows * columns * sizeof(int));
    cudaMalloc(&d_least, rows * sizeof(int));
    cudaMemcpy(d_x, x.data(), rows * columns * sizeof(int), cudaMemcpyHostToDevice);
    row_least<<<(rows + 127) / 128, 128>>>(d_x, d_least, rows, columns);
    cudaDeviceSynchronize();
    return 0;
}
