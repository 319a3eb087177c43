// Eight elements at a time.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     X : f16[N] = uniform(-1, 1)
#pragma keet in     Z : f16[N] = uniform(-1, 1)
#pragma keet out    Y : f16[N]
#pragma keet work   flops = N, bytes = 6*N
#pragma keet launch add<<<N/2048, 256>>>(X, Z, Y, N)

#include <cuda_fp16.h>
__global__ void add(const __half *__restrict__ X, const __half *__restrict__ Z, __half *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 x = reinterpret_cast<const uint4 *>(X)[i], z = reinterpret_cast<const uint4 *>(Z)[i];
    __half2 *a = reinterpret_cast<__half2 *>(&x), *b = reinterpret_cast<__half2 *>(&z);
    for (int k = 0; k < 4; k++)
        a[k] = __hadd2(a[k], b[k]);
    reinterpret_cast<uint4 *>(Y)[i] = x;
}
