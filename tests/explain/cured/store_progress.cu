// Only the last value is stored.
#pragma keet size   N = 262144
#pragma keet check  N = 1000
#pragma keet in     X : f16[32*N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 32*N, bytes = 68*N
#pragma keet launch highest<<<ceil_div(N, 256), 256>>>(X, Y, N)

#include <cuda_fp16.h>
__global__ void highest(const half *X, float *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float most = -2;
    for (int k = 0; k < 32; k++) {
        most = fmaxf(most, __half2float(X[k * n + i]));
    }
    Y[i] = most;
}
