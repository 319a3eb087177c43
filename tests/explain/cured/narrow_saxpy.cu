// Eight elements at a time.
#pragma keet size   N = 4194304
#pragma keet check  N = 1024
#pragma keet in     X : bf16[N] = uniform(-1, 1)
#pragma keet inout  Y : bf16[N] = uniform(-1, 1)
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*N, bytes = 6*N
#pragma keet launch saxpy<<<ceil_div(N, 2048), 256>>>(X, Y, N)

#include <cuda_bf16.h>
struct __align__(16) eight { __nv_bfloat162 of[4]; };
__global__ void saxpy(const eight *__restrict__ X, eight *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (8 * i >= n)
        return;
    eight x = X[i], y = Y[i];
    for (int k = 0; k < 4; k++) {
        float2 a = __bfloat1622float2(x.of[k]), b = __bfloat1622float2(y.of[k]);
        y.of[k] = __floats2bfloat162_rn(2.5f * a.x + b.x, 2.5f * a.y + b.y);
    }
    Y[i] = y;
}
