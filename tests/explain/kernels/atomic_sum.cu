// Every thread adds to the same few words.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 100)
#pragma keet inout  Y : i32[4] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch sum<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void sum(const int *__restrict__ X, int *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&Y[i & 3], X[i]);
}
