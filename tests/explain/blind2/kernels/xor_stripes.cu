// A stripe of parity over four stripes of words.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     A : u32[4][N] = integers(0, 2147483647)
#pragma keet out    P : u32[N]
#pragma keet work   flops = 3*N, bytes = 20*N
#pragma keet launch parity<<<N/1024, 256>>>(A, P, N/4)

__global__ void parity(const uint4 *__restrict__ A, uint4 *__restrict__ P, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    uint4 a = A[i], b = A[n + i], c = A[2 * n + i], d = A[3 * n + i];
    P[i] = make_uint4(a.x ^ b.x ^ c.x ^ d.x, a.y ^ b.y ^ c.y ^ d.y, a.z ^ b.z ^ c.z ^ d.z, a.w ^ b.w ^ c.w ^ d.w);
}
