// The sum is in a register.
#pragma keet size   N = 131072
#pragma keet check  N = 1000
#pragma keet in     X : f32[64*N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 260*N
#pragma keet launch sums<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void sums(const float *X, float *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += X[k * n + i];
    Y[i] = sum;
}
