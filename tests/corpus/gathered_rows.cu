// Indices of rows, of which a size is known (half of its numbers are rows) or the caller's.
#include <torch/extension.h>

__global__ void embed(const int *idx, const float *weight, float *out, int n, int width)
{
    if (blockIdx.x < n && threadIdx.x < width)
        out[blockIdx.x * width + threadIdx.x] = weight[idx[blockIdx.x] * width + threadIdx.x];
}

__global__ void distances(const int *pair, const float *points, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int j = pair[i];
    out[i] = points[2 * j] * points[2 * j + 1];
}

void embedding(torch::Tensor idx, torch::Tensor weight, torch::Tensor out, torch::Tensor length)
{
    const int n = idx.size(0), width = weight.size(1), m = length.size(0);
    int *pair;
    float *points, *d;
    cudaMalloc(&pair, m * sizeof(int));
    cudaMalloc(&points, 2 * m * sizeof(float));
    cudaMalloc(&d, m * sizeof(float));
    embed<<<n, 128>>>(idx.data_ptr<int>(), weight.data_ptr<float>(), out.data_ptr<float>(), n, width);
    distances<<<(m + 127) / 128, 128>>>(pair, points, d, m);
}
