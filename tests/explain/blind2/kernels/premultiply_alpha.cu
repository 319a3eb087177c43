// A plane of colour times its plane of alpha, in bytes.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     C : u8[N] = integers(0, 255)
#pragma keet in     A : u8[N] = integers(0, 255)
#pragma keet out    Y : u8[N]
#pragma keet launch premultiply<<<N/256, 256>>>(C, A, Y)

__global__ void premultiply(const unsigned char *__restrict__ C, const unsigned char *__restrict__ A, unsigned char *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    Y[i] = C[i] * A[i] >> 8;
}
