// A product of bf16 matrices on the vector pipes, four outputs per thread.
#pragma keet size   N = 1024
#pragma keet check  N = 128
#pragma keet in     A : bf16[N][N] = uniform(-1, 1)
#pragma keet in     B : bf16[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*N*N*N, bytes = 8*N*N
#pragma keet launch matmul<<<dim3(N/32, N/32), dim3(32, 8)>>>(A, B, C, N)

#include <cuda_bf16.h>
__global__ void matmul(const __nv_bfloat16 *__restrict__ A, const __nv_bfloat16 *__restrict__ B, float *__restrict__ C, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int k = 0; k < n; k++) {
        float b = __bfloat162float(B[k * n + x]);
        s0 += __bfloat162float(A[y * n + k]) * b;
        s1 += __bfloat162float(A[(y + 8) * n + k]) * b;
        s2 += __bfloat162float(A[(y + 16) * n + k]) * b;
        s3 += __bfloat162float(A[(y + 24) * n + k]) * b;
    }
    C[y * n + x] = s0;
    C[(y + 8) * n + x] = s1;
    C[(y + 16) * n + x] = s2;
    C[(y + 24) * n + x] = s3;
}
