// Rows divided by their root mean square, scaled by gains, then multiplied with weights: two launches, the rows in
// between go through memory in bfloat16.
#pragma keet size   M = 2048, D = 2048, N = 2048
#pragma keet check  M = 64, D = 96, N = 48
#pragma keet check  M = 33, D = 64, N = 80
#pragma keet in     X : bf16[M][D] = uniform(-1, 1)
#pragma keet in     gain : f32[D] = uniform(0.5, 1.5)
#pragma keet in     W : bf16[N][D] = uniform(-0.25, 0.25)
#pragma keet out    Y : bf16[M][N]
#pragma keet tolerance rel = 1.6e-2, abs = 5e-2
#pragma keet work   bf16_flops = 2*M*N*D, bytes = 2*(M*D + N*D + M*N)
#pragma keet temp   R : bf16[M][D]
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch rmsnorm<<<M, 128>>>(X, gain, R, D)
#pragma keet launch matmul<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(R, W, Y, M, N, D)
#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16 *X, const float *gain, __nv_bfloat16 *R, int D)
{
    __shared__ float part[128];
    size_t row = (size_t)blockIdx.x * D;
    float sum = 0;
    for (int d = threadIdx.x; d < D; d += 128) {
        float x = __bfloat162float(X[row + d]);
        sum += x * x;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    float scale = rsqrtf(part[0] / D + 1e-6f);
    for (int d = threadIdx.x; d < D; d += 128)
        R[row + d] = __float2bfloat16(__bfloat162float(X[row + d]) * scale * gain[d]);
}

__global__ void matmul(const __nv_bfloat16 *R, const __nv_bfloat16 *W, __nv_bfloat16 *Y, int M, int N, int D)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < D; k++)
            sum += __bfloat162float(R[(size_t)row * D + k]) * __bfloat162float(W[(size_t)col * D + k]);
        Y[(size_t)row * N + col] = __float2bfloat16(sum);
    }
}
