// Halves added one by one.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     X : f16[N] = uniform(-1, 1)
#pragma keet in     Z : f16[N] = uniform(-1, 1)
#pragma keet out    Y : f16[N]
#pragma keet work   flops = N, bytes = 6*N
#pragma keet launch add<<<ceil_div(N, 256), 256>>>(X, Z, Y, N)

#include <cuda_fp16.h>
__global__ void add(const __half *__restrict__ X, const __half *__restrict__ Z, __half *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        Y[i] = __hadd(X[i], Z[i]);
}
