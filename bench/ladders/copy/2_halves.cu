// Copy 128 MiB in units of 2 bytes, by a grid-stride loop.
#pragma keet size   N = 67108864
#pragma keet check  N = 4096
#pragma keet in     X : u16[N] = integers(0, 200)
#pragma keet out    Y : u16[N]
#pragma keet work   flops = 0, bytes = 4*N
#pragma keet launch copy<<<ceil_div(N, 1024), 1024>>>(X, Y, N)

__global__ void copy(const unsigned short *x, unsigned short *y, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i];
}
