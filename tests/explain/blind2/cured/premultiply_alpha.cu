// A plane of colour times its plane of alpha, in bytes.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     C : u8[N] = integers(0, 255)
#pragma keet in     A : u8[N] = integers(0, 255)
#pragma keet out    Y : u8[N]
#pragma keet launch premultiply<<<N/4096, 256>>>(C, A, Y)

__device__ unsigned four(unsigned c, unsigned a)
{
    unsigned y = 0;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        y |= ((c >> k & 255) * (a >> k & 255) >> 8) << k;
    return y;
}
__global__ void premultiply(const uint4 *__restrict__ C, const uint4 *__restrict__ A, uint4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    uint4 c = C[i], a = A[i];
    Y[i] = make_uint4(four(c.x, a.x), four(c.y, a.y), four(c.z, a.z), four(c.w, a.w));
}
