// Each block counts in shared memory, and adds 256 counters for 256 numbers: too little work for a block.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : i32[N] = integers(0, 256)
#pragma keet inout  Y : i32[256] = constant(0)
#pragma keet launch histogram<<<N/256, 256>>>(X, Y)

__global__ void histogram(const int *__restrict__ X, int *Y)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[X[blockIdx.x * 256 + threadIdx.x] & 255], 1);
    __syncthreads();
    atomicAdd(&Y[threadIdx.x], bins[threadIdx.x]);
}
