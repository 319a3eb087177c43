// The counter is a float all along, truncated.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 1000)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch mix<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void mix(const int *__restrict__ X, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float y = X[i];
#pragma unroll 16
    for (int k = 0; k < 128; k++)
        y = truncf(y * 0.75f + 1.5f);
    Y[i] = y;
}
