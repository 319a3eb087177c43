// A transpose that writes columns.
#pragma keet size   N = 2048
#pragma keet check  N = 65
#pragma keet in     X : f32[N][N] = uniform(-1, 1)
#pragma keet out    Y : f32[N][N]
#pragma keet work   flops = 0, bytes = 8*N*N
#pragma keet launch turn<<<dim3(ceil_div(N, 32), ceil_div(N, 8)), dim3(32, 8)>>>(X, Y, N)

__global__ void turn(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < n && y < n)
        Y[x * n + y] = X[y * n + x];
}
