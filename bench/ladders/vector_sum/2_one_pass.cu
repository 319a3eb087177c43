// In one launch: block sums are added to the total by atomics.
#pragma keet size   N = 67108864
#pragma keet check  N = 1048576
#pragma keet in     X : i32[N] = integers(0, 9)
#pragma keet inout  TOTAL : i32[1] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch sum<<<N/1024, 1024>>>(X, TOTAL, N)

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

__global__ void sum(const int *x, int *total, int n)
{
    __shared__ int s[1024];
    int t = threadIdx.x, i = blockIdx.x * 1024 + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 512; d > 32; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32)
        last_warp(s, t);
    if (t == 0)
        atomicAdd(total, s[0]);
}
