// As before; the last warp needs no barrier of the block.
#pragma keet size   N = 33554432
#pragma keet check  N = 65536
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    SUMS : f32[N/512]
#pragma keet tolerance rel = 1e-4, abs = 1e-3
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch reduce<<<N/512, 256>>>(X, SUMS)

__device__ void last_warp(float *s, unsigned t)
{
    float v = s[t] + s[t + 32];
#pragma unroll
    for (unsigned d = 16; d > 0; d >>= 1) {
        __syncwarp();
        s[t] = v;
        __syncwarp();
        v += s[t + d];
    }
    __syncwarp();
    s[t] = v;
}

__global__ void reduce(const float *x, float *sums)
{
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = x[blockIdx.x * 512 + t] + x[blockIdx.x * 512 + t + 256];
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 32; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32)
        last_warp(s, t);
    if (t == 0)
        sums[blockIdx.x] = s[0];
}
