// The loop is unrolled by sixteen.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 512*N, bytes = 8*N
#pragma keet launch powers<<<ceil_div(N, 256), 256>>>(X, Y, N, 256)

__global__ void powers(const float *__restrict__ X, float *__restrict__ Y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], y = 1;
#pragma unroll 16
    for (int k = 0; k < m; k++)
        y = y * x + 0.5f;
    Y[i] = y;
}
