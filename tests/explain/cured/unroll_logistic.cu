// The loop is unrolled by sixteen.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 900*N, bytes = 8*N
#pragma keet launch iterate<<<ceil_div(N, 256), 256>>>(X, Y, N, 300)

__global__ void iterate(const float *__restrict__ X, float *__restrict__ Y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], c = x * 0.5f;
#pragma unroll 16
    for (int k = 0; k < m; k++)
        x = x * 0.5f * x + c;
    Y[i] = x;
}
