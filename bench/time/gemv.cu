// Matrix times vector, a row a block.
#pragma keet size   M = 2048, K = 1048576
#pragma keet check  M = 5, K = 4096
#pragma keet in     A : f32[M][K] = uniform(0, 1)
#pragma keet in     B : f32[K] = uniform(0, 1)
#pragma keet out    C : f32[M]
#pragma keet tolerance rel = 1e-4
#pragma keet launch gemv<<<M, 256>>>(A, B, C, K)

#include "parts.cuh"

__global__ void gemv(const float *a, const float *b, float *c, int k)
{
    const float4 *row = (const float4 *)(a + (size_t)blockIdx.x * k), *vector = (const float4 *)b;
    float sum = 0;
    for (int i = threadIdx.x; i < k / 4; i += 256) {
        float4 x = row[i], y = vector[i];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        c[blockIdx.x] = sum;
}
