// The divisors are constants, known to the compiler.
#pragma keet size   N = 524288
#pragma keet check  N = 1000
#pragma keet in     X : u32[N] = integers(0, 1000000)
#pragma keet out    Y : u32[N]
#pragma keet work   flops = 32*N, bytes = 8*N
#pragma keet launch residues<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void residues(const unsigned *__restrict__ X, unsigned *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = X[i], sum = 0;
#pragma unroll
    for (unsigned k = 3; k < 35; k++)
        sum += x % k;
    Y[i] = sum;
}
