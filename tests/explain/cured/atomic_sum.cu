// The lanes of a warp that add to the same word add by shuffles first, and a block has one atomic per warp and word.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 100)
#pragma keet inout  Y : i32[4] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch sum<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void sum(const int *__restrict__ X, int *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i < n ? X[i] : 0;
    for (int d = 16; d > 2; d /= 2)
        x += __shfl_xor_sync(~0u, x, d);
    __shared__ int sum[4];
    if (threadIdx.x < 4)
        sum[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32 < 4)
        atomicAdd(&sum[threadIdx.x & 3], x);
    __syncthreads();
    if (threadIdx.x < 4)
        atomicAdd(&Y[threadIdx.x], sum[threadIdx.x]);
}
