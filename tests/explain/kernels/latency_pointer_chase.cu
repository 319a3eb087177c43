// Each load needs the one before.
#pragma keet size   N = 33792
#pragma keet check  N = 33792
#pragma keet in     X : i32[33792*32] = iota(33792, 1)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = N, bytes = 132*N
#pragma keet launch chase<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void chase(const int *__restrict__ X, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i % 33792;
    for (int k = 0; k < 32; k++)
        at = X[at];
    Y[i] = at;
}
