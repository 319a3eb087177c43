// Two integer vectors combined bit by bit.
#pragma keet size   N = 8388608
#pragma keet check  N = 1024
#pragma keet in     A : i32[4*N] = integers(0, 1000)
#pragma keet in     B : i32[4*N] = integers(0, 1000)
#pragma keet out    Y : i32[4*N]
#pragma keet work   flops = 0, bytes = 48*N
#pragma keet launch both<<<ceil_div(N, 256), 256>>>(A, B, Y, N)

__global__ void both(const int4 *__restrict__ A, const int4 *__restrict__ B, int4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int4 a = A[i], b = B[i];
    Y[i] = make_int4(a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w);
}
