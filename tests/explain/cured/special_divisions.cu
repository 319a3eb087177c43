// The fast division.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(1, 2)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch fraction<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void fraction(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], y = x;
#pragma unroll 4
    for (int k = 0; k < 64; k++)
        y = __fdividef(1.0f, x + y);
    Y[i] = y;
}
