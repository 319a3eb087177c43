// Rows of 33 words.
#pragma keet size   N = 2048
#pragma keet check  N = 64
#pragma keet in     X : f32[N][N] = uniform(-1, 1)
#pragma keet out    Y : f32[N][N]
#pragma keet work   flops = 0, bytes = 8*N*N
#pragma keet launch turn<<<dim3(ceil_div(N, 32), ceil_div(N, 32)), dim3(32, 8)>>>(X, Y, N)

__global__ void turn(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < n && y + k < n)
            tile[threadIdx.y + k][threadIdx.x] = X[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < n && y + k < n)
            Y[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
