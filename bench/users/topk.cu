// The k largest of each row in order, a row a thread, by insertion.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define K 8

__global__ void topk(const float *x, float *values, int *indices, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float best[K];
    int at[K];
    for (int i = 0; i < K; i++) {
        best[i] = -INFINITY;
        at[i] = -1;
    }
    for (int c = 0; c < cols; c++) {
        float v = x[row * cols + c];
        if (v <= best[K - 1])
            continue;
        int i = K - 1;
        while (i > 0 && best[i - 1] < v) {
            best[i] = best[i - 1];
            at[i] = at[i - 1];
            i--;
        }
        best[i] = v;
        at[i] = c;
    }
    for (int i = 0; i < K; i++) {
        values[row * K + i] = best[i];
        indices[row * K + i] = at[i];
    }
}

int main()
{
    const int rows = 1024, cols = 512;
    float *h = (float *)malloc(rows * cols * sizeof(float)), *x, *values;
    int *indices;
    for (int i = 0; i < rows * cols; i++)
        h[i] = rand() / (float)RAND_MAX;
    cudaMalloc(&x, rows * cols * sizeof(float));
    cudaMalloc(&values, rows * K * sizeof(float));
    cudaMalloc(&indices, rows * K * sizeof(int));
    cudaMemcpy(x, h, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
    topk<<<(rows + 63) / 64, 64>>>(x, values, indices, rows, cols);
    cudaMemcpy(h, values, rows * K * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", h[0]);
    return 0;
}
