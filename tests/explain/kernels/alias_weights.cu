// Six weights per thread, loaded again in every round, since the stores might change them.
#pragma keet size   N = 65536
#pragma keet check  N = 1000
#pragma keet in     W : f32[6*N] = uniform(-1, 1)
#pragma keet out    Y : f16[32*N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 320*N, bytes = 88*N
#pragma keet launch steps<<<ceil_div(N, 256), 256>>>(W, Y, N)

#include <cuda_fp16.h>

__global__ void steps(const float *W, half *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 32; k++) {
        float x = k * 0.03f;
        Y[k * n + i] = __float2half(((((W[i] * x + W[n + i]) * x + W[2 * n + i]) * x + W[3 * n + i]) * x + W[4 * n + i]) * x + W[5 * n + i]);
    }
}
