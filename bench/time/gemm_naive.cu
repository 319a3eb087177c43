// C = A B in f32, an element a thread, 16 x 16 threads a block.
#pragma keet size   N = 1024
#pragma keet check  N = 48
#pragma keet in     A : f32[N][N] = uniform(-1, 1)
#pragma keet in     B : f32[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch gemm<<<dim3(ceil_div(N, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, N, N)

__global__ void gemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++)
            sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}
