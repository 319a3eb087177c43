// SwiGLU feed-forward block: Y = (silu(X Wg) * (X Wu)) Wd, f32. Four launches: two products up, the
// gate, one product down; one output per thread.
#pragma keet size   T = 512, D = 512, F = 1024
#pragma keet check  T = 33, D = 19, F = 37
#pragma keet check  T = 16, D = 32, F = 64
#pragma keet in     X : f32[T][D] = uniform(-1, 1)
#pragma keet in     WG : f32[D][F] = uniform(-0.2, 0.2)
#pragma keet in     WU : f32[D][F] = uniform(-0.2, 0.2)
#pragma keet in     WD : f32[F][D] = uniform(-0.2, 0.2)
#pragma keet out    Y : f32[T][D]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*T*D*F, bytes = 4*(2*T*D + 3*D*F)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet temp   G : f32[T][F]
#pragma keet temp   U : f32[T][F]
#pragma keet launch product<<<dim3(ceil_div(F, TILE), ceil_div(T, TILE)), dim3(TILE, TILE)>>>(X, WG, G, T, F, D)
#pragma keet launch product<<<dim3(ceil_div(F, TILE), ceil_div(T, TILE)), dim3(TILE, TILE)>>>(X, WU, U, T, F, D)
#pragma keet launch gate<<<ceil_div(T*F, BLOCK), BLOCK>>>(G, U, T*F)
#pragma keet launch product<<<dim3(ceil_div(D, TILE), ceil_div(T, TILE)), dim3(TILE, TILE)>>>(G, WD, Y, T, D, F)

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

__global__ void gate(float *g, const float *u, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        g[i] = g[i] / (1.0f + expf(-g[i])) * u[i];
}
