// What attention makes of the values: weights times values, both in half precision.
#pragma keet size   N = 2048
#pragma keet check  N = 128
#pragma keet in     W : f16[N][N] = uniform(0, 0.01)
#pragma keet in     V : f16[N][64] = uniform(-1, 1)
#pragma keet out    O : f32[N][64]
#pragma keet tolerance rel = 2e-2, abs = 2e-2
#pragma keet work   flops = 128*N*N, bytes = 2*N*N + 384*N
#pragma keet launch mix<<<N/32, 512>>>(W, V, O, N)

#include <cuda_fp16.h>

__global__ void mix(const half *__restrict__ W, const half *__restrict__ V, float *__restrict__ O, int n)
{
    __shared__ __align__(16) half w[32][72], v[64][72];
    int t = threadIdx.x, row = blockIdx.x * 32;
    int x = t % 32, y = t / 32 * 2;
    float sum[2][2] = {{0, 0}, {0, 0}};
    for (int k = 0; k < n; k += 64) {
        if (t < 256)
            *(uint4 *)&w[t / 8][t % 8 * 8] = *(const uint4 *)&W[(long)(row + t / 8) * n + k + t % 8 * 8];
        for (int j = t; j < 512; j += blockDim.x)
            *(uint4 *)&v[j / 8][j % 8 * 8] = *(const uint4 *)&V[(k + j / 8) * 64 + j % 8 * 8];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 64; j++) {
            float2 b = __half22float2(*(const half2 *)&v[j][2 * x]);
            float a0 = __half2float(w[y][j]), a1 = __half2float(w[y + 1][j]);
            sum[0][0] += a0 * b.x;
            sum[0][1] += a0 * b.y;
            sum[1][0] += a1 * b.x;
            sum[1][1] += a1 * b.y;
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        *(float2 *)&O[(row + y + j) * 64 + 2 * x] = make_float2(sum[j][0], sum[j][1]);
}
