// f16 matrix product, two columns per thread in half2, tiles in shared memory.
#pragma keet size   N = 256
#pragma keet in     A : f16[N][N]
#pragma keet in     B : f16[N][N]
#pragma keet out    C : f16[N][N]
#pragma keet launch hgemm<<<dim3(N/32, N/16), dim3(16, 16)>>>(A, B, C, N)
#include <cuda_fp16.h>

__global__ void hgemm(const half *A, const half *B, half *C, int n)
{
    __shared__ half a[16][16];
    __shared__ half2 b[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 32 + 2 * x;
    half2 sum = __float2half2_rn(0);
    for (int t = 0; t < n; t += 16) {
        a[y][x] = A[row * n + t + x];
        b[y][x] = *(const half2 *)&B[(t + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum = __hfma2(__half2half2(a[y][k]), b[k][x], sum);
        __syncthreads();
    }
    *(half2 *)&C[row * n + col] = sum;
}
