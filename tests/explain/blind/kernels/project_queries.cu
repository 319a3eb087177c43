// Queries of all tokens: half by half product, sums in f32; 64x64 tiles, 4x4 outputs per thread.
#pragma keet size   M = 1024, N = 1024, K = 512
#pragma keet check  M = 64, N = 128, K = 32
#pragma keet in     X : f16[M][K] = uniform(-1, 1)
#pragma keet in     W : f16[K][N] = uniform(-1, 1)
#pragma keet out    Q : f16[M][N]
#pragma keet tolerance rel = 4e-3, abs = 4e-3
#pragma keet work   flops = 2*M*N*K, bytes = 2*(M*K + K*N + M*N)
#pragma keet launch project<<<dim3(N/64, M/64), 256>>>(X, W, Q, M, N, K)
#include <cuda_fp16.h>

__global__ void project(const half *__restrict__ X, const half *__restrict__ W, half *__restrict__ Q, int m, int n,
    int k)
{
    __shared__ float x[16][68], w[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        half2 a = *(const half2 *)&X[(row0 + t / 8) * k + k0 + t % 8 * 2];
        half2 b = *(const half2 *)&X[(row0 + 32 + t / 8) * k + k0 + t % 8 * 2];
        x[t % 8 * 2][t / 8] = __low2float(a);
        x[t % 8 * 2 + 1][t / 8] = __high2float(a);
        x[t % 8 * 2][32 + t / 8] = __low2float(b);
        x[t % 8 * 2 + 1][32 + t / 8] = __high2float(b);
        half2 c = *(const half2 *)&W[(k0 + t / 32) * n + col0 + t % 32 * 2];
        half2 d = *(const half2 *)&W[(k0 + 8 + t / 32) * n + col0 + t % 32 * 2];
        *(float2 *)&w[t / 32][t % 32 * 2] = __half22float2(c);
        *(float2 *)&w[8 + t / 32][t % 32 * 2] = __half22float2(d);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 16; q++) {
            float4 u = *(const float4 *)&x[q][ty * 4], v = *(const float4 *)&w[q][tx * 4];
            float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += us[i] * vs[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j += 2)
            *(half2 *)&Q[(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = __floats2half2_rn(sum[i][j], sum[i][j + 1]);
}
