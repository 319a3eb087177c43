// Sum of integers in two launches, block sums by halves in shared memory.
#pragma keet size   N = 67108864
#pragma keet check  N = 1048576
#pragma keet in     X : i32[N] = integers(0, 9)
#pragma keet inout  TOTAL : i32[1] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet temp   PARTIAL : i32[N/1024]
#pragma keet launch sum<<<N/1024, 1024>>>(X, PARTIAL, N)
#pragma keet launch sum<<<1, 1024>>>(PARTIAL, TOTAL, N/1024)

__global__ void sum(const int *x, int *out, int n)
{
    __shared__ int s[1024];
    int t = threadIdx.x, v = 0;
    for (int i = blockIdx.x * 1024 + t; i < n; i += gridDim.x * 1024)
        v += x[i];
    s[t] = v;
    __syncthreads();
    for (int d = 512; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
