// Constants that the host sets: an array, a number, and a vector in a namespace.
#include <cstdio>

#define TAPS 9

__constant__ float taps[TAPS];
__constant__ int length;
namespace config {
__device__ float4 bounds[2];
}

__global__ void smooth(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length)
        return;
    float sum = 0;
    for (int k = 0; k < TAPS; k++) {
        int at = i + k - TAPS / 2;
        if (at >= 0 && at < length)
            sum += taps[k] * in[at];
    }
    out[i] = sum + config::bounds[0].x * config::bounds[1].w;
}

int main()
{
    const int n = 2000;
    float h_taps[TAPS], *in, *out;
    float4 h_bounds[2] = {};
    for (int k = 0; k < TAPS; k++)
        h_taps[k] = 1.0f / TAPS;
    cudaMemcpyToSymbol(taps, h_taps, TAPS * sizeof(float));
    cudaMemcpyToSymbol(length, &n, sizeof(int));
    cudaMemcpyToSymbol(config::bounds, h_bounds, sizeof(h_bounds), 0, cudaMemcpyHostToDevice);
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    smooth<<<(n + 127) / 128, 128>>>(out, in);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
