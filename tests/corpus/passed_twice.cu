// A pass in place: the array is given twice, as what is written and as what is read.
#include <cuda_runtime.h>
#include <stdlib.h>

__global__ void butterfly(float *out, const float *in, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int low = i % stride + (i / stride) * 2 * stride;
    float a = in[low], b = in[low + stride];
    out[low] = a + b;
    out[low + stride] = a - b;
}

int main()
{
    const int n = 4096;
    float *d, *h = (float *)malloc(n * sizeof(float));
    for (int i = 0; i < n; i++)
        h[i] = rand() / (float)RAND_MAX;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    butterfly<<<n / 256, 128>>>(d, d, 64);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    free(h);
    cudaFree(d);
}
