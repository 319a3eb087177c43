// Device functions and constant memory that other files of the program define, as nvcc -rdc links them.
#include <cstdio>

#include "waves.h"

static __device__ float limit(float x)
{
    return fminf(fmaxf(x, -1.0f), 1.0f);
}

__global__ void waves(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = limit(damped(in[i], i % TAPS) + folded(in[i]));
}

int main()
{
    const int n = 5000;
    const float host_taps[TAPS] = {0.5f, 0.25f, 0.125f, 0.125f};
    float *in, *out;

    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    cudaMemcpyToSymbol(taps, host_taps, sizeof(host_taps));
    waves<<<(n + 127) / 128, 128>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return 0;
}
