// cuRAND's states are memory of the device alone: one kernel makes them, the next one uses them.
#include <cuda_runtime.h>
#include <curand_kernel.h>

__global__ void seed_states(curandState *states, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        curand_init(1234, i, 0, &states[i]);
}

__global__ void draw(float *out, curandState *states, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    curandState state = states[i];
    out[i] = curand_uniform(&state) + curand_uniform(&state);
    states[i] = state;
}

int main()
{
    int n = 128;
    float *out, host[128];
    curandState *states;

    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&states, n * sizeof(curandState));
    seed_states<<<2, 64>>>(states, n);
    draw<<<2, 64>>>(out, states, n);
    cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    return 0;
}
