// The parity of four disks.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     A : u32[N] = integers(0, 1000000)
#pragma keet in     B : u32[N] = integers(0, 1000000)
#pragma keet in     C : u32[N] = integers(0, 1000000)
#pragma keet in     D : u32[N] = integers(0, 1000000)
#pragma keet out    P : u32[N]
#pragma keet work   flops = 3*N, bytes = 20*N
#pragma keet launch parity<<<N/1024, 256>>>(A, B, C, D, P)

__global__ void parity(const uint4 *__restrict__ A, const uint4 *__restrict__ B, const uint4 *__restrict__ C,
    const uint4 *__restrict__ D, uint4 *__restrict__ P)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 a = A[i], b = B[i], c = C[i], d = D[i];
    P[i] = make_uint4(a.x ^ b.x ^ c.x ^ d.x, a.y ^ b.y ^ c.y ^ d.y, a.z ^ b.z ^ c.z ^ d.z, a.w ^ b.w ^ c.w ^ d.w);
}
