// One instruction counts the bits of a word.
#pragma keet size   N = 4194304
#pragma keet check  N = 1024
#pragma keet in     X : u32[N] = integers(0, 1000000)
#pragma keet out    Y : u32[N]
#pragma keet work   flops = N, bytes = 8*N
#pragma keet launch bits<<<ceil_div(N, 1024), 256>>>(X, Y, N)

__global__ void bits(const unsigned *__restrict__ X, unsigned *__restrict__ Y, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    uint4 x = *reinterpret_cast<const uint4 *>(&X[i]), c = {0, 0, 0, 0};
    c = make_uint4(__popc(x.x), __popc(x.y), __popc(x.z), __popc(x.w));
    *reinterpret_cast<uint4 *>(&Y[i]) = c;
}
