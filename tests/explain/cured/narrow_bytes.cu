// Sixteen bytes at a time.
#pragma keet size   N = 33554432
#pragma keet check  N = 4096
#pragma keet in     X : u8[N] = integers(0, 255)
#pragma keet out    Y : u8[N]
#pragma keet work   flops = 0, bytes = 2*N
#pragma keet launch invert<<<N/4096, 256>>>(X, Y, N)

__global__ void invert(const uint4 *__restrict__ X, uint4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 x = X[i];
    Y[i] = make_uint4(~x.x, ~x.y, ~x.z, ~x.w);
}
