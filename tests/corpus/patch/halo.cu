#include <cstdio>

#define RADIUS 4

__global__ void stencil(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];

    for (int k = 1; k <= RADIUS; k++)
        sum += in[i + k] + in[i - k];
    out[i] = sum;
}

int main()
{
    const int n = 1 << 12;
    const int bytes = (n + 2 * RADIUS) * sizeof(float);
    float *in, *out;

    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    stencil<<<n / 128, 128>>>(in + RADIUS, out + RADIUS);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
