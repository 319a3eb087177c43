// Two f16 activations are added.
#pragma keet size   N = 33554432
#pragma keet check  N = 4096
#pragma keet in     A : f16[N] = uniform(-1, 1)
#pragma keet in     B : f16[N] = uniform(-1, 1)
#pragma keet out    C : f16[N]
#pragma keet work   flops = N, bytes = 6*N
#pragma keet launch add<<<N/2048, 256>>>(A, B, C)
#include <cuda_fp16.h>

__device__ unsigned both(unsigned a, unsigned b)
{
    half2 sum = __hadd2(*(half2 *)&a, *(half2 *)&b);
    return *(unsigned *)&sum;
}

__global__ void add(const uint4 *__restrict__ A, const uint4 *__restrict__ B, uint4 *__restrict__ C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 a = A[i], b = B[i];
    C[i] = make_uint4(both(a.x, b.x), both(a.y, b.y), both(a.z, b.z), both(a.w, b.w));
}
