// A template whose tile is a constant of the file, launched by a wrapper that main calls.
#include <iostream>
#define TILE 16

template <typename T, int N>
__global__ void transpose(const T *in, T *out, int rows, int cols)
{
    __shared__ T tile[N][N + 1];
    int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
    if (x < cols && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * N + threadIdx.x;
    y = blockIdx.x * N + threadIdx.y;
    if (x < rows && y < cols)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

void run(const float *d_in, float *d_out, int rows, int cols)
{
    dim3 block(TILE, TILE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose<float, TILE><<<grid, block>>>(d_in, d_out, rows, cols);
}

int main()
{
    int rows = 1000, cols = 768;
    size_t bytes = (size_t)rows * cols * sizeof(float);
    float *d_in, *d_out;
    cudaMalloc((void **)&d_in, bytes);
    cudaMalloc((void **)&d_out, bytes);
    run(d_in, d_out, rows, cols);
    std::cout << "done\n";
    return 0;
}
