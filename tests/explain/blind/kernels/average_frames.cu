// The average of two frames of 8-bit channels, rounded up.
#pragma keet size   N = 67108864
#pragma keet check  N = 4096
#pragma keet in     A : u8[N] = integers(0, 255)
#pragma keet in     B : u8[N] = integers(0, 255)
#pragma keet out    C : u8[N]
#pragma keet work   flops = 2*N, bytes = 3*N
#pragma keet launch average<<<N/4096, 256>>>(A, B, C)

__device__ unsigned mean(unsigned a, unsigned b)
{
    return (a | b) - (((a ^ b) >> 1) & 0x7f7f7f7fu);
}

__global__ void average(const uint4 *__restrict__ A, const uint4 *__restrict__ B, uint4 *__restrict__ C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 a = A[i], b = B[i];
    C[i] = make_uint4(mean(a.x, b.x), mean(a.y, b.y), mean(a.z, b.z), mean(a.w, b.w));
}
