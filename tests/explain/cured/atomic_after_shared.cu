// Each warp counts 256 numbers, and the block adds the counters of its warps before it adds to those of the others.
#pragma keet size   N = 1048576
#pragma keet check  N = 4096
#pragma keet in     X : i32[N] = integers(0, 31)
#pragma keet inout  Y : i32[32] = constant(0)
#pragma keet launch histogram<<<N/2048, 256>>>(X, Y)

__global__ void histogram(const int *__restrict__ X, int *Y)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < 2048; k += 256)
        atomicAdd(&bins[(threadIdx.x & ~31) + X[blockIdx.x * 2048 + k]], 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        int sum = 0;
        for (int w = 0; w < 8; w++)
            sum += bins[w * 32 + threadIdx.x];
        atomicAdd(&Y[threadIdx.x], sum);
    }
}
