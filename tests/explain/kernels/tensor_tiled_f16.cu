// The same with tiles in shared memory: still no tensor cores.
#pragma keet size   N = 1024
#pragma keet check  N = 64
#pragma keet in     A : f16[N][N] = uniform(-1, 1)
#pragma keet in     B : f16[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*N*N*N, bytes = 8*N*N
#pragma keet launch matmul<<<dim3(N/16, N/16), dim3(16, 16)>>>(A, B, C, N)

#include <cuda_fp16.h>
__global__ void matmul(const __half *__restrict__ A, const __half *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float a[16][17], b[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        a[ty][tx] = __half2float(A[y * n + k + tx]);
        b[ty][tx] = __half2float(B[(k + ty) * n + x]);
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    C[y * n + x] = sum;
}
