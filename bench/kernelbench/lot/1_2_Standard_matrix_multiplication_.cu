// KernelBench level 1, problem 2: a matrix product in f32. One output per thread.
#pragma keet size   M = 2048, K = 8192, N = 4096
#pragma keet check  M = 70, K = 100, N = 45
#pragma keet check  M = 128, K = 64, N = 128
#pragma keet in     A : f32[M][K] = uniform(0, 1)
#pragma keet in     B : f32[K][N] = uniform(0, 1)
#pragma keet out    output : f32[M][N]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2*M*N*K, bytes = 4*(M*K + K*N + M*N)
#pragma keet launch product<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, output, M, K, N)

__global__ void product(const float *A, const float *B, float *C, int m, int k, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= m)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += A[(size_t)y * k + i] * B[(size_t)i * n + x];
    C[(size_t)y * n + x] = sum;
}
