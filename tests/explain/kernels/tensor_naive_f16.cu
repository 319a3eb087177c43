// A product of 16-bit matrices on the vector pipes.
#pragma keet size   N = 1024
#pragma keet check  N = 64
#pragma keet in     A : f16[N][N] = uniform(-1, 1)
#pragma keet in     B : f16[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*N*N*N, bytes = 8*N*N
#pragma keet launch matmul<<<dim3(ceil_div(N, 32), ceil_div(N, 8)), dim3(32, 8)>>>(A, B, C, N)

#include <cuda_fp16.h>
__global__ void matmul(const __half *__restrict__ A, const __half *__restrict__ B, float *__restrict__ C, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += __half2float(A[y * n + k]) * __half2float(B[k * n + x]);
    C[y * n + x] = sum;
}
