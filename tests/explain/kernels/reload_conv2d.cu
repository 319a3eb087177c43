// A 7 by 7 convolution straight from global memory.
#pragma keet size   N = 1024
#pragma keet check  N = 65
#pragma keet in     X : f32[N+6][N+6] = uniform(-1, 1)
#pragma keet in     W : f32[49] = uniform(-1, 1)
#pragma keet out    Y : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 98*N*N, bytes = 8*N*N
#pragma keet launch conv<<<dim3(ceil_div(N, 32), ceil_div(N, 8)), dim3(32, 8)>>>(X, W, Y, N)

__global__ void conv(const float *__restrict__ X, const float *__restrict__ W, float *__restrict__ Y, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float sum = 0;
    for (int j = 0; j < 7; j++)
        for (int i = 0; i < 7; i++)
            sum += W[j * 7 + i] * X[(y + j) * (n + 6) + x + i];
    Y[y * n + x] = sum;
}
