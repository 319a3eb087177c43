// A filter of 33 taps, every tap from global memory.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N+32] = uniform(-1, 1)
#pragma keet in     W : f32[33] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 66*N, bytes = 8*N
#pragma keet launch filter<<<ceil_div(N, 256), 256>>>(X, W, Y, N)

__global__ void filter(const float *__restrict__ X, const float *__restrict__ W, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 33; k++)
        sum += W[k] * X[i + k];
    Y[i] = sum;
}
