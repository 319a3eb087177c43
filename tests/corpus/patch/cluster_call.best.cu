#include <cstdio>
#include <cuda_runtime.h>
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + x[i];
}
#pragma keet size   n = 65536
#pragma keet in     x : f32[n]
#pragma keet out    y : f32[n]
#pragma keet launch scale<<<n/256, 256>>>(x, y, n) cluster(2)
