// Copy 128 MiB in units of 8 bytes, by a grid-stride loop.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     X : u32[N][2] = integers(0, 200)
#pragma keet out    Y : u32[N][2]
#pragma keet work   flops = 0, bytes = 16*N
#pragma keet launch copy<<<ceil_div(N, 1024), 1024>>>(X, Y, N)

__global__ void copy(const uint2 *x, uint2 *y, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i];
}
