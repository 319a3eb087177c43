// A block finds its largest first.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 1000000)
#pragma keet inout  Y : i32[1] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch largest<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void largest(const int *__restrict__ X, int *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = __reduce_max_sync(~0u, i < n ? X[i] : 0);
    __shared__ int most;
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        atomicMax(&most, x);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(Y, most);
}
