// Blocks of 64 threads, on all SMs.
#pragma keet size   N = 16384
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2048*N, bytes = 8*N
#pragma keet launch iterate<<<ceil_div(N, 64), 64>>>(X, Y, N)

__global__ void iterate(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float y = X[i];
#pragma unroll 16
    for (int k = 0; k < 1024; k++)
        y = y * 0.99f + 0.01f;
    Y[i] = y;
}
