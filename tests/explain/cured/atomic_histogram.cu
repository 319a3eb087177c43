// A block counts in shared memory, 4096 numbers.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 64)
#pragma keet inout  Y : i32[64] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch histogram<<<ceil_div(N, 4096), 256>>>(X, Y, N)

__global__ void histogram(const int *__restrict__ X, int *Y, int n)
{
    __shared__ int bins[64];
    if (threadIdx.x < 64)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 4096; k += 256) {
        int i = blockIdx.x * 4096 + k + threadIdx.x;
        if (i < n)
            atomicAdd(&bins[X[i] & 63], 1);
    }
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&Y[threadIdx.x], bins[threadIdx.x]);
}
