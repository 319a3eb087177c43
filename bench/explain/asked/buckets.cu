// Counts of 1024 buckets, first in shared memory, then added up.
#pragma keet size   N = 4194304, WIDTH = 1024
#pragma keet check  N = 10000, WIDTH = 1024
#pragma keet in     X : i32[N] = integers(0, WIDTH-1)
#pragma keet out    COUNT : i32[WIDTH]
#pragma keet tune   BLOCKS = 264 in {132, 264, 528, 1056}
#pragma keet launch zero<<<1, 1024>>>(COUNT)
#pragma keet launch count<<<BLOCKS, 256>>>(X, COUNT, N)

__global__ void zero(int *count)
{
    count[threadIdx.x] = 0;
}

__global__ void count(const int *x, int *count, int n)
{
    __shared__ int mine[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        atomicAdd(&count[i], mine[i]);
}
