// A threshold, four bytes in and one byte out.
#pragma keet size   N = 8388608
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : u8[N]
#pragma keet work   flops = N, bytes = 5*N
#pragma keet launch above<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void above(const float *__restrict__ X, unsigned char *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        Y[i] = X[i] > 0.5f;
}
