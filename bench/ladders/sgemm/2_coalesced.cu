// C = A B, one output a thread; neighbouring threads work on neighbouring columns.
#pragma keet size   M = 4096, N = 4096, K = 4096
#pragma keet check  M = 256, N = 128, K = 64
#pragma keet in     A : f32[M][K] = uniform(-1, 1)
#pragma keet in     B : f32[K][N] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet launch sgemm<<<dim3(N/32, M/32), dim3(32, 32)>>>(A, B, C, M, N, K)


__global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}
