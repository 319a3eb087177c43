#include "waves.h"

__constant__ float taps[TAPS];

static __device__ float limit(float x) // another one than in waves.cu
{
    return x > 2.0f ? 2.0f : x;
}

__device__ float damped(float x, int tap)
{
    return limit(x) * taps[tap];
}

__global__ void damp_all(float *x, int n) // not of the task
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = damped(x[i], 0);
}
