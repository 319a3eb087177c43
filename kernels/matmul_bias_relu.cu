// Linear layer: Y = relu(X W + BIAS), f32. Two launches: the product with one output per thread, then
// bias and relu over the result.
#pragma keet size   M = 512, N = 512, K = 512
#pragma keet check  M = 33, N = 65, K = 37
#pragma keet check  M = 32, N = 64, K = 32
#pragma keet in     X : f32[M][K] = uniform(-1, 1)
#pragma keet in     W : f32[K][N] = uniform(-1, 1)
#pragma keet in     BIAS : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K + 2*M*N, bytes = 4*(M*K + K*N + N + M*N)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch product<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(X, W, Y, M, N, K)
#pragma keet launch bias_relu<<<ceil_div(M*N, BLOCK), BLOCK>>>(Y, BIAS, M*N, N)

__global__ void product(const float *A, const float *B, float *C, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

__global__ void bias_relu(float *y, const float *bias, int n, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(y[i] + bias[i % cols], 0.0f);
}
