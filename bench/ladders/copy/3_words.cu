// Copy 128 MiB in units of 4 bytes, by a grid-stride loop.
#pragma keet size   N = 33554432
#pragma keet check  N = 4096
#pragma keet in     X : u32[N] = integers(0, 200)
#pragma keet out    Y : u32[N]
#pragma keet work   flops = 0, bytes = 8*N
#pragma keet launch copy<<<ceil_div(N, 1024), 1024>>>(X, Y, N)

__global__ void copy(const unsigned *x, unsigned *y, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i];
}
