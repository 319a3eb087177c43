// An elementwise kernel whose x runs down the columns.
#pragma keet size   N = 2048
#pragma keet check  N = 65
#pragma keet in     X : f32[N][N] = uniform(-1, 1)
#pragma keet out    Y : f32[N][N]
#pragma keet work   flops = N*N, bytes = 8*N*N
#pragma keet launch twice<<<dim3(ceil_div(N, 32), ceil_div(N, 8)), dim3(32, 8)>>>(X, Y, N)

__global__ void twice(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 8 + threadIdx.y;
    if (row < n && col < n)
        Y[row * n + col] = 2 * X[row * n + col];
}
