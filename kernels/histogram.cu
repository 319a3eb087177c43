// Histogram of bytes into 256 bins, one byte per thread, global atomics. The first launch clears the bins.
#pragma keet size   N = 4194304
#pragma keet check  N = 10007
#pragma keet check  N = 4096
#pragma keet check  N = 1
#pragma keet in     DATA : u8[N] = integers(0, 255)
#pragma keet out    BINS : i32[256]
#pragma keet work   flops = 0, bytes = N + 1024
#pragma keet tune   BLOCK = 256 in {64, 128, 256, 512}
#pragma keet launch clear_bins<<<1, 256>>>(BINS)
#pragma keet launch histogram<<<ceil_div(N, BLOCK), BLOCK>>>(DATA, BINS, N)

__global__ void clear_bins(int *bins)
{
    bins[threadIdx.x] = 0;
}

__global__ void histogram(const unsigned char *data, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i]], 1);
}
