// As before; the last warp needs no barrier of the block.
#pragma keet size   N = 67108864
#pragma keet check  N = 1048576
#pragma keet in     X : i32[N] = integers(0, 9)
#pragma keet inout  TOTAL : i32[1] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet temp   PARTIAL : i32[N/1024]
#pragma keet launch sum<<<N/1024, 1024>>>(X, PARTIAL, N)
#pragma keet launch sum<<<1, 1024>>>(PARTIAL, TOTAL, N/1024)

__device__ void last_warp(int *s, int t)
{
    int v = s[t] + s[t + 32];
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) {
        __syncwarp();
        s[t] = v;
        __syncwarp();
        v += s[t + d];
    }
    __syncwarp();
    s[t] = v;
}

__global__ void sum(const int *x, int *out, int n)
{
    __shared__ int s[1024];
    int t = threadIdx.x, v = 0;
    for (int i = blockIdx.x * 1024 + t; i < n; i += gridDim.x * 1024)
        v += x[i];
    s[t] = v;
    __syncthreads();
    for (int d = 512; d > 32; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32)
        last_warp(s, t);
    if (t == 0)
        out[blockIdx.x] = s[0];
}
