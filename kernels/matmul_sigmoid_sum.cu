// Y[i] = the sum over j of sigmoid(X W)[i][j], f32. Three launches: the product with one output per
// thread, the sigmoid in place, then one row per thread.
#pragma keet size   M = 512, N = 512, K = 256
#pragma keet check  M = 33, N = 65, K = 37
#pragma keet check  M = 32, N = 64, K = 32
#pragma keet in     X : f32[M][K] = uniform(-1, 1)
#pragma keet in     W : f32[K][N] = uniform(-0.2, 0.2)
#pragma keet out    Y : f32[M]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*M*N*K + 5*M*N, bytes = 4*(M*K + K*N + M)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet temp   S : f32[M][N]
#pragma keet launch product<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(X, W, S, M, N, K)
#pragma keet launch sigmoid<<<ceil_div(M*N, BLOCK), BLOCK>>>(S, M*N)
#pragma keet launch row_sums<<<ceil_div(M, BLOCK), BLOCK>>>(S, Y, M, N)

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

__global__ void sigmoid(float *s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        s[i] = 1.0f / (1.0f + expf(-s[i]));
}

__global__ void row_sums(const float *S, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int i = 0; i < cols; i++)
            sum += S[row * cols + i];
        y[row] = sum;
    }
}
