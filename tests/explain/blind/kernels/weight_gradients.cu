// Gradients of a layer's weights: dW = X^T dY over B examples.
#pragma keet size   B = 1024, M = 1536, N = 704
#pragma keet check  B = 64, M = 128, N = 128
#pragma keet in     X : f32[B][M] = uniform(-1, 1)
#pragma keet in     G : f32[B][N] = uniform(-1, 1)
#pragma keet out    W : f32[M][N]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2*B*M*N, bytes = 4*(B*M + B*N + M*N)
#pragma keet launch gradients<<<dim3(N/64, M/128), 128>>>(X, G, W, B, M, N)

__global__ void __launch_bounds__(128) gradients(const float *__restrict__ X, const float *__restrict__ G,
    float *__restrict__ W, int b, int m, int n)
{
    __shared__ __align__(16) float x[8][128], g[8][64];
    int t = threadIdx.x, tx = t % 8, ty = t / 8, row = t / 16, col = t % 16 * 4;
    const float *from_x = X + row * m + blockIdx.y * 128 + col;
    const float *from_g = G + row * n + blockIdx.x * 64 + col;
    float sum[8][8] = {};
#pragma unroll 1
    for (int k = 0; k < b; k += 8) {
        *(float4 *)&x[row][col] = *(const float4 *)(from_x + k * m);
        *(float4 *)&x[row][64 + col] = *(const float4 *)(from_x + k * m + 64);
        *(float4 *)&g[row][col] = *(const float4 *)(from_g + k * n);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 8; q++) {
            float u[8], v[8];
            *(float4 *)&u[0] = *(const float4 *)&x[q][ty * 4];
            *(float4 *)&u[4] = *(const float4 *)&x[q][64 + ty * 4];
            *(float4 *)&v[0] = *(const float4 *)&g[q][tx * 4];
            *(float4 *)&v[4] = *(const float4 *)&g[q][32 + tx * 4];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j += 4)
            *(float4 *)&W[(blockIdx.y * 128 + i / 4 * 64 + ty * 4 + i % 4) * n + blockIdx.x * 64 + j * 8 + tx * 4] =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
