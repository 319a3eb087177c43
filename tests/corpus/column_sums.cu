// Two arrays of results, launched by a function that takes none of its sizes as arguments.
#include <cstdio>

#define ROWS 400
#define COLS 320

static float *data, *mean, *spread;

__global__ void columns(const float *data, float *mean, float *spread, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    register float sum = 0, squares = 0;
    for (int r = 0; r < rows; r++) {
        float v = data[r * cols + c];
        sum += v;
        squares += v * v;
    }
    mean[c] = sum / rows;
    spread[c] = squares / rows - sum / rows * (sum / rows);
}

static void setup()
{
    cudaMalloc(&data, ROWS * COLS * sizeof(float));
    cudaMalloc(&mean, COLS * sizeof(float));
    cudaMalloc(&spread, COLS * sizeof(float));
}

static void run()
{
    columns<<<(COLS + 63) / 64, 64>>>(data, mean, spread, ROWS, COLS);
}

int main()
{
    setup();
    run();
    cudaDeviceSynchronize();
}
