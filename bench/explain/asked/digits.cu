// One pass of a radix sort over 4 bits: counts by block, offsets, places.
#pragma keet size   N = 1048576
#pragma keet check  N = 4096
#pragma keet in     X : u32[N] = integers(0, 65535)
#pragma keet temp   COUNT : i32[16][N/1024]
#pragma keet temp   START : i32[16][N/1024]
#pragma keet out    Y : u32[N]
#pragma keet launch count<<<N/1024, 256>>>(X, COUNT, N/1024)
#pragma keet launch offsets<<<1, 16>>>(COUNT, START, N/1024)
#pragma keet launch place<<<ceil_div(N/1024, 64), 64>>>(X, START, Y, N/1024)

__global__ void count(const unsigned *x, int *count, int blocks)
{
    __shared__ int mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256)
        atomicAdd(&mine[x[blockIdx.x * 1024 + k] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        count[threadIdx.x * blocks + blockIdx.x] = mine[threadIdx.x];
}

__global__ void offsets(const int *count, int *start, int blocks)
{
    int d = threadIdx.x, before = 0;
    for (int e = 0; e < d; e++)
        for (int b = 0; b < blocks; b++)
            before += count[e * blocks + b];
    for (int b = 0; b < blocks; b++) {
        start[d * blocks + b] = before;
        before += count[d * blocks + b];
    }
}

__global__ void place(const unsigned *x, const int *start, unsigned *y, int blocks)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks)
        return;
    int at[16];
    for (int d = 0; d < 16; d++)
        at[d] = start[d * blocks + b];
    for (int k = 0; k < 1024; k++) {
        unsigned v = x[b * 1024 + k];
        y[at[v & 15]++] = v;
    }
}
