// A stencil whose kernel gets pointers behind a halo, and reads and writes before them.
#include <cstdio>

#define RADIUS 4

__constant__ float weight[RADIUS + 1];

__global__ void stencil(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = weight[0] * in[i];

    for (int k = 1; k <= RADIUS; k++)
        sum += weight[k] * (in[i + k] + in[i - k]);
    out[i] = sum;
}

__global__ void edges(float2 *pairs, int n)
{
    if (threadIdx.x == 0)
        pairs[-1] = pairs[n] = make_float2(0, 0);
}

int main()
{
    const int n = 1 << 12;
    const int bytes = (n + 2 * RADIUS) * sizeof(float);
    float *in, *out;
    float2 *pairs;

    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMalloc(&pairs, (n + 2) * sizeof(float2));
    stencil<<<n / 128, 128>>>(in + RADIUS, out + RADIUS);
    edges<<<1, 32>>>(&pairs[1], n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
