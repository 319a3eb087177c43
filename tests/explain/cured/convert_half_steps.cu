// The steps are in single precision.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch steps<<<ceil_div(N, 256), 256>>>(X, Y, N)

#include <cuda_fp16.h>
__global__ void steps(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float y = X[i];
#pragma unroll 16
    for (int k = 0; k < 128; k++)
        y = y * 0.75f + 0.25f;
    Y[i] = y;
}
