// One step of k-means: each point's nearest centre, and the sums of the points of each centre.
#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void assign(const float *points, const float *centres, int *label, int n, int k, int dim)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = FLT_MAX;
    int which = 0;
    for (int c = 0; c < k; c++) {
        float d = 0;
        for (int j = 0; j < dim; j++) {
            float t = points[i * dim + j] - centres[c * dim + j];
            d += t * t;
        }
        if (d < best) {
            best = d;
            which = c;
        }
    }
    label[i] = which;
}

__global__ void accumulate(const float *points, const int *label, float *sums, int *counts, int n, int dim)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int c = label[i];
    for (int j = 0; j < dim; j++)
        atomicAdd(&sums[c * dim + j], points[i * dim + j]);
    atomicAdd(&counts[c], 1);
}

int main()
{
    const int n = 16384, k = 16, dim = 8;
    float *h = (float *)malloc(n * dim * sizeof(float)), *points, *centres, *sums;
    int *label, *counts;
    for (int i = 0; i < n * dim; i++)
        h[i] = rand() / (float)RAND_MAX;
    cudaMalloc(&points, n * dim * sizeof(float));
    cudaMalloc(&centres, k * dim * sizeof(float));
    cudaMalloc(&sums, k * dim * sizeof(float));
    cudaMalloc(&label, n * sizeof(int));
    cudaMalloc(&counts, k * sizeof(int));
    cudaMemcpy(points, h, n * dim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(centres, h, k * dim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(sums, 0, k * dim * sizeof(float));
    cudaMemset(counts, 0, k * sizeof(int));
    assign<<<(n + 255) / 256, 256>>>(points, centres, label, n, k, dim);
    accumulate<<<(n + 255) / 256, 256>>>(points, label, sums, counts, n, dim);
    int first;
    cudaMemcpy(h, sums, k * dim * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(&first, counts, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%f %d\n", h[0], first);
    return 0;
}
