// RMSNorm of rows of 4096 halves, one block per row.
#pragma keet size   N = 16384
#pragma keet check  N = 5
#pragma keet in     X : f16[N][4096] = normal(0, 1)
#pragma keet in     G : f16[4096] = uniform(0.5, 1.5)
#pragma keet out    Y : f16[N][4096]
#pragma keet work   flops = 4*4096*N, bytes = 4*4096*N
#pragma keet launch rms<<<N, 512>>>(X, G, Y)
#include <cuda_fp16.h>

__global__ void rms(const uint4 *__restrict__ X, const uint4 *__restrict__ G, uint4 *__restrict__ Y)
{
    __shared__ float part[16];
    int t = threadIdx.x;
    uint4 x = X[blockIdx.x * 512 + t], g = G[t];
    half2 *h = (half2 *)&x, *scale = (half2 *)&g;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(h[k]);
        sum += f.x * f.x + f.y * f.y;
    }
#pragma unroll
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads();
    sum = part[t % 16];
#pragma unroll
    for (int d = 8; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    float inverse = rsqrtf(sum / 4096 + 1e-6f);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(h[k]), s = __half22float2(scale[k]);
        h[k] = __floats2half2_rn(f.x * inverse * s.x, f.y * inverse * s.y);
    }
    Y[blockIdx.x * 512 + t] = x;
}
