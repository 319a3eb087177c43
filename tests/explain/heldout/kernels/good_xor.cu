// Mixes two vectors of words.
#pragma keet size   N = 6291456
#pragma keet check  N = 1000
#pragma keet in     A : i32[4*N] = integers(0, 1000)
#pragma keet in     B : i32[4*N] = integers(0, 1000)
#pragma keet out    Y : i32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 4*N, bytes = 48*N
#pragma keet launch go<<<ceil_div(N, 256), 256>>>(A, B, Y, N)

__global__ void go(const int4 *__restrict__ A, const int4 *__restrict__ B, int4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int4 a = A[i], b = B[i];
    Y[i] = make_int4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}
