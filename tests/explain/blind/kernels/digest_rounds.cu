// A digest of each of N words by 256 rounds of mixing.
#pragma keet size   N = 143360
#pragma keet check  N = 2048
#pragma keet in     X : u32[N] = integers(0, 1000000)
#pragma keet out    Y : u32[N]
#pragma keet work   flops = 256*6*N, bytes = 8*N
#pragma keet launch digest<<<ceil_div(N, 1024), 1024>>>(X, Y, N)

__global__ void __launch_bounds__(1024, 1) digest(const unsigned *__restrict__ X, unsigned *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = X[i], b = a ^ 0x5bd1e995u, c = a + 77, d = b * 3;
#pragma unroll 8
    for (int r = 0; r < 256; r++) {
        a += b; d = __funnelshift_l(d ^ a, d ^ a, 16);
        c += d; b = __funnelshift_l(b ^ c, b ^ c, 12);
        a += b; d = __funnelshift_l(d ^ a, d ^ a, 8);
        c += d; b = __funnelshift_l(b ^ c, b ^ c, 7);
    }
    Y[i] = a ^ b ^ c ^ d;
}
