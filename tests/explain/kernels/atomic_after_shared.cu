// Each warp counts 32 numbers in shared memory, and adds 32 counters to those of all the others.
#pragma keet size   N = 1048576
#pragma keet check  N = 4096
#pragma keet in     X : i32[N] = integers(0, 31)
#pragma keet inout  Y : i32[32] = constant(0)
#pragma keet launch histogram<<<N/256, 256>>>(X, Y)

__global__ void histogram(const int *__restrict__ X, int *Y)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[(threadIdx.x & ~31) + X[blockIdx.x * 256 + threadIdx.x]], 1);
    __syncthreads();
    atomicAdd(&Y[threadIdx.x & 31], bins[threadIdx.x]);
}
