// Outputs written through references to their elements, and states that only cuRAND's functions touch.
#include <cuda_runtime.h>
#include <curand_kernel.h>

__global__ void seed_states(curandState *states, unsigned long long seed)
{
    int i = threadIdx.x;

    curand_init(seed, i, 0, &states[i]);
}

__global__ void mix(uchar3 *out, float *sums, const uchar3 *in, curandState *states, int n)
{
    int i = threadIdx.x;

    if (i >= n)
        return;
    uchar3 &pixel = out[i];
    float &sum = sums[i];
    const uchar3 &from = in[i];
    float noise = curand_uniform(&states[i]);

    pixel.x = from.y;
    pixel.y = from.x;
    pixel.z = noise > 0.5f ? 255 : 0;
    sum += noise;
}

int main()
{
    const int n = 64;
    uchar3 *in, *out;
    float *sums;
    curandState *states;

    cudaMalloc(&in, n * sizeof(uchar3));
    cudaMalloc(&out, n * sizeof(uchar3));
    cudaMalloc(&sums, n * sizeof(float));
    cudaMalloc(&states, n * sizeof(curandState));
    seed_states<<<1, n>>>(states, 42);
    mix<<<1, n>>>(out, sums, in, states, n);
    return 0;
}
