// A continued fraction whose constants make the divisions double.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(1, 2)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 96*N, bytes = 8*N
#pragma keet launch fraction<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void fraction(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], y = x;
#pragma unroll 8
    for (int k = 0; k < 32; k++)
        y = x + 3.0 / (y + 1.0);
    Y[i] = y;
}
