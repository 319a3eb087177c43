// A histogram straight into global memory.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 64)
#pragma keet inout  Y : i32[64] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch histogram<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void histogram(const int *__restrict__ X, int *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&Y[X[i] & 63], 1);
}
