// The pointers are restrict.
#pragma keet size   N = 65536
#pragma keet check  N = 100
#pragma keet in     F : f32[8] = uniform(0, 1)
#pragma keet out    Y : f16[32*N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 512*N, bytes = 64*N
#pragma keet launch evaluate<<<ceil_div(N, 256), 256>>>(F, Y, N)

#include <cuda_fp16.h>

__global__ void evaluate(const float *__restrict__ F, half *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = i * 1e-5f;
    for (int k = 0; k < 32; k++) {
        float y = F[0];
        y = y * x + F[1];
        y = y * x + F[2];
        y = y * x + F[3];
        y = y * x + F[4];
        y = y * x + F[5];
        y = y * x + F[6];
        Y[k * n + i] = __float2half(y * x + F[7]);
        x += 0.01f;
    }
}
