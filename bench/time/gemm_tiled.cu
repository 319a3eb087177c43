// C = A B in f32, an element a thread, 32 x 32 threads a block, tiles of both factors in shared memory.
#pragma keet size   N = 1024
#pragma keet check  N = 80
#pragma keet in     A : f32[N][N] = uniform(-1, 1)
#pragma keet in     B : f32[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch gemm<<<dim3(ceil_div(N, 32), ceil_div(N, 32)), dim3(32, 32)>>>(A, B, C, N, N, N)

__global__ void gemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[32][32], tile_b[32][32];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int tile = 0; tile < (k + 31) / 32; tile++) {
        int ka = tile * 32 + threadIdx.x, kb = tile * 32 + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = col < n && kb < k ? b[kb * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 32; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
