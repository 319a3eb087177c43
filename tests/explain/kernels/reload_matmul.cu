// A matrix product straight from global memory.
#pragma keet size   N = 512
#pragma keet check  N = 65
#pragma keet in     A : f32[N][N] = uniform(-1, 1)
#pragma keet in     B : f32[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N*N*N, bytes = 12*N*N
#pragma keet launch matmul<<<dim3(ceil_div(N, 32), ceil_div(N, 8)), dim3(32, 8)>>>(A, B, C, N)

__global__ void matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[y * n + k] * B[k * n + x];
    C[y * n + x] = sum;
}
