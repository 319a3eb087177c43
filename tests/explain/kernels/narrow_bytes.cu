// A copy of single bytes.
#pragma keet size   N = 33554432
#pragma keet check  N = 4096
#pragma keet in     X : u8[N] = integers(0, 255)
#pragma keet out    Y : u8[N]
#pragma keet work   flops = 0, bytes = 2*N
#pragma keet launch invert<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void invert(const unsigned char *__restrict__ X, unsigned char *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        Y[i] = ~X[i];
}
