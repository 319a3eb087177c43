// Single to half precision, eight elements per thread.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f16[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = N, bytes = 6*N
#pragma keet launch halve<<<N/2048, 256>>>(X, Y)

#include <cuda_fp16.h>
struct __align__(16) eight { half2 of[4]; };
__global__ void halve(const float4 *__restrict__ X, eight *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = X[2 * i], b = X[2 * i + 1];
    eight y;
    y.of[0] = __floats2half2_rn(a.x, a.y), y.of[1] = __floats2half2_rn(a.z, a.w);
    y.of[2] = __floats2half2_rn(b.x, b.y), y.of[3] = __floats2half2_rn(b.z, b.w);
    Y[i] = y;
}
