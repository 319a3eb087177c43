// Bytes in and out, one a thread. Cured: sixteen a thread.
#pragma keet size   N = 33554432
#pragma keet check  N = 4096
#pragma keet in     X : u8[N] = integers(0, 255)
#pragma keet out    Y : u8[N]
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch invert<<<N / (CURED ? 4096 : 256), 256>>>(X, Y)

__global__ void invert(const unsigned char *__restrict__ X, unsigned char *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
#if CURED
    uint4 v = reinterpret_cast<const uint4 *>(X)[i];
    reinterpret_cast<uint4 *>(Y)[i] = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
#else
    Y[i] = ~X[i];
#endif
}
