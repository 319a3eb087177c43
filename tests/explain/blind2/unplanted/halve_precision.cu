// halve_precision with neighbouring lanes on neighbouring float4: 16 sectors a load instead of 32.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f16[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = N, bytes = 6*N
#pragma keet launch halve<<<N/2048, 256>>>(X, Y)

#include <cuda_fp16.h>
struct __align__(8) four { half2 of[2]; };
__global__ void halve(const float4 *__restrict__ X, four *__restrict__ Y)
{
    int i = blockIdx.x * 512 + threadIdx.x;
    float4 a = X[i], b = X[i + 256];
    four y, z;
    y.of[0] = __floats2half2_rn(a.x, a.y), y.of[1] = __floats2half2_rn(a.z, a.w);
    z.of[0] = __floats2half2_rn(b.x, b.y), z.of[1] = __floats2half2_rn(b.z, b.w);
    Y[i] = y, Y[i + 256] = z;
}
