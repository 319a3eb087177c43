// Two sizes that hang together: each block adds 131072 elements, so neither can shrink alone.
#include <cuda_runtime.h>

__global__ void sums(const float *in, float *out)
{
    __shared__ float part[256];
    float sum = 0;

    for (int k = 0; k < 512; k++)
        sum += in[(blockIdx.x * 512 + k) * 256 + threadIdx.x];
    part[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

int main()
{
    const int n = 1 << 25, blocks = 1 << 8;
    float *in, *out;

    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, blocks * sizeof(float));
    sums<<<blocks, 256>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
