__global__ void total(const float *values, float *parts, int count)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += values[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        parts[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}

__global__ void finish(const float *parts, float *sum, int nr)
{
    float all = 0;
    for (int i = threadIdx.x; i < nr; i += THREADS)
        all += parts[i];
    atomicAdd(sum, all);
}

#pragma keet size   n = 1048576
#pragma keet in     d_x : f32[n]
#pragma keet inout  d_sum : f32[1]
#pragma keet tune   BLOCKS = 240 in {120, 240}
#pragma keet tune   THREADS = 128 in {64, 128}
#pragma keet temp   parts : f32[min(BLOCKS*8, n)]
#pragma keet launch total<<<BLOCKS, 256>>>(d_x, parts, n)
#pragma keet launch finish<<<1, THREADS>>>(parts, d_sum, min(BLOCKS*8, n))
