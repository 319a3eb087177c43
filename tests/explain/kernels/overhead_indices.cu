// A four-dimensional index taken apart by 64-bit divisions for each element.
#pragma keet size   N = 4194304
#pragma keet check  N = 1024
#pragma keet in     X : i32[N] = integers(0, 1000)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 4*N, bytes = 8*N
#pragma keet launch split<<<ceil_div(N, 1024), 256>>>(X, Y, N, 7, 11, 13)

__device__ int label(long i, long a, long b, long c)
{
    return i % a + i / a % b + i / a / b % c + i / a / b / c;
}
__global__ void split(const int *__restrict__ X, int *__restrict__ Y, long n, long a, long b, long c)
{
    long i = 4L * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    int4 v = *reinterpret_cast<const int4 *>(&X[i]);
    v.x += label(i, a, b, c);
    v.y += label(i + 1, a, b, c);
    v.z += label(i + 2, a, b, c);
    v.w += label(i + 3, a, b, c);
    *reinterpret_cast<int4 *>(&Y[i]) = v;
}
