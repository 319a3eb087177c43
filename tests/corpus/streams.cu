// A launch on a stream, with asynchronous copies around it.
#include <cuda_runtime.h>

__global__ void bias(float *x, const float *b, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        x[i] += b[i % cols];
}

int main()
{
    const int rows = 100, cols = 60;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    float *x, *b, *h;
    cudaMallocHost(&h, rows * cols * sizeof(float));
    cudaMallocAsync(&x, rows * cols * sizeof(float), stream);
    cudaMallocAsync(&b, cols * sizeof(float), stream);
    cudaMemcpyAsync(x, h, rows * cols * sizeof(float), cudaMemcpyHostToDevice, stream);
    bias<<<(rows * cols + 255) / 256, 256, 0, stream>>>(x, b, rows, cols);
    cudaStreamSynchronize(stream);
}
