// A table of places, then the values: two trips to memory, one after the other, few warps.
#pragma keet size   N = 16896
#pragma keet check  N = 1024
#pragma keet in     P : i32[64*N] = iota(0, 1)
#pragma keet in     X : i32[64*N] = integers(0, 100)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 64*N, bytes = 516*N
#pragma keet launch sums<<<ceil_div(N, 128), 128>>>(P, X, Y, N)

__global__ void sums(const int *__restrict__ P, const int *__restrict__ X, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 64; k++)
        sum += X[P[k * n + i]];
    Y[i] = sum;
}
