// permute_axes without its index arithmetic: no element moves.
#pragma keet size   N = 2097152
#pragma keet check  N = 2000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet work   flops = 0*N, bytes = 8*N
#pragma keet launch permute<<<ceil_div(N, 256), 256>>>(X, Y, N, 7, 11, 13, 5)

__global__ void permute(const float *__restrict__ X, float *__restrict__ Y, int n, int a, int b, int c, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Y[i] = X[i];
}
