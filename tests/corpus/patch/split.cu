// The sum of an array, launched by a helper that has other names than main.
#include <cstdio>

__global__ void total(const float *values, float *sum, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(sum, values[i]);
}

// Launches and waits.
static void run(const float *in, float *out, int len, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    if (len > 0)
        total<<<120, 256, 0, stream>>>(in, out, len); // on the caller's stream
    cudaStreamSynchronize(stream);
}

int main()
{
    const int n = 1 << 20;
    float *d_x, *d_sum;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_sum, sizeof(float));
    run(d_x, d_sum, n, 0);
    run(d_x, d_sum, n, 0);
    printf("done\n");
}
