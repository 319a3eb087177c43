// A file that says its task itself, and has its host code beside it: both stay in it.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#ifndef WIDTH
#define WIDTH 128
#endif
#pragma keet size   ROWS = 2048, COLS = 512
#pragma keet check  ROWS = 33, COLS = 65
#pragma keet in     A : f32[ROWS][COLS]
#pragma keet out    S : f32[ROWS]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet tune   WIDTH = 128 in {64, 128, 256}
#pragma keet launch sums<<<ceil_div(ROWS, WIDTH), WIDTH>>>(A, S, ROWS, COLS)

static void must(cudaError_t code)
{
    if (code != cudaSuccess)
        printf("%s\n", cudaGetErrorString(code));
}

/* One row a thread. */
__global__ void sums(const float *a, float *s, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < cols; i++)
        sum += a[row * cols + i];
    s[row] = sum;
}

int main()
{
    const int height = 2048, width = 512;
    std::vector<float> host(height * width, 1.0f);
    float *matrix, *result;

    must(cudaMalloc(&matrix, height * width * sizeof(float)));
    must(cudaMalloc(&result, height * sizeof(float)));
    must(cudaMemcpy(matrix, host.data(), height * width * sizeof(float), cudaMemcpyHostToDevice));
    sums<<<(height + WIDTH - 1) / WIDTH, WIDTH>>>(matrix, result, height, width);
    must(cudaMemcpy(host.data(), result, height * sizeof(float), cudaMemcpyDeviceToHost));
    printf("%g\n", host[0]);
}
