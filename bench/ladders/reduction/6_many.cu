// As before; each thread adds up 128 elements first.
#pragma keet size   N = 33554432
#pragma keet check  N = 65536
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    SUMS : f32[N/32768]
#pragma keet tolerance rel = 1e-4, abs = 1e-3
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch reduce<<<N/32768, 256>>>(X, SUMS)

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
    float sum = 0;
#pragma unroll
    for (unsigned i = 0; i < 128; i++)
        sum += x[blockIdx.x * 32768 + i * 256 + t];
    s[t] = sum;
    __syncthreads();
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32)
        last_warp(s, t);
    if (t == 0)
        sums[blockIdx.x] = s[0];
}
