// Turns in a fixed order: each block waits until the block before has let it through.
#pragma keet size   N = 16384
#pragma keet check  N = 1024
#pragma keet in     X : i32[N] = integers(0, 9)
#pragma keet out    Y : i32[N]
#pragma keet temp   TURN : u32[1]
#pragma keet launch clear<<<1, 1>>>(TURN)
#pragma keet launch turns<<<N / 64, 64>>>(X, Y, TURN)

__global__ void clear(unsigned *TURN)
{
    *TURN = 0;
}

__global__ void turns(const int *X, int *Y, unsigned *TURN)
{
    if (threadIdx.x == 0)
        while (atomicAdd(TURN, 0) != blockIdx.x)
            ;
    __syncthreads();
    Y[blockIdx.x * 64 + threadIdx.x] = 2 * X[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0)
        atomicAdd(TURN, 1);
}
