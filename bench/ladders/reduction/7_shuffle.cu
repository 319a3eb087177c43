// As before; warps add up by shuffles.
#pragma keet size   N = 33554432
#pragma keet check  N = 65536
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    SUMS : f32[N/32768]
#pragma keet tolerance rel = 1e-4, abs = 1e-3
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch reduce<<<N/32768, 256>>>(X, SUMS)

__device__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}

__global__ void reduce(const float *x, float *sums)
{
    __shared__ float s[8];
    unsigned t = threadIdx.x;
    float sum = 0;
#pragma unroll
    for (unsigned i = 0; i < 128; i++)
        sum += x[blockIdx.x * 32768 + i * 256 + t];
    sum = warp_sum(sum);
    if (t % 32 == 0)
        s[t / 32] = sum;
    __syncthreads();
    sum = t < 8 ? s[t] : 0;
    if (t < 32)
        sum = warp_sum(sum);
    if (t == 0)
        sums[blockIdx.x] = sum;
}
