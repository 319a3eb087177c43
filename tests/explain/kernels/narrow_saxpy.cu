// y = a x + y of bf16, one element at a time.
#pragma keet size   N = 4194304
#pragma keet check  N = 1024
#pragma keet in     X : bf16[N] = uniform(-1, 1)
#pragma keet inout  Y : bf16[N] = uniform(-1, 1)
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*N, bytes = 6*N
#pragma keet launch saxpy<<<ceil_div(N, 256), 256>>>(X, Y, N)

#include <cuda_bf16.h>
__global__ void saxpy(const __nv_bfloat16 *__restrict__ X, __nv_bfloat16 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        Y[i] = __float2bfloat16(2.5f * __bfloat162float(X[i]) + __bfloat162float(Y[i]));
}
