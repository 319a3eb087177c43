// Bits counted one at a time.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : u32[N] = integers(0, 1000000)
#pragma keet out    Y : u32[N]
#pragma keet work   flops = N, bytes = 8*N
#pragma keet launch bits<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void bits(const unsigned *__restrict__ X, unsigned *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = X[i], c = 0;
#pragma unroll 1
    for (int k = 0; k < 32; k++)
        c += (x >> k) & 1;
    Y[i] = c;
}
