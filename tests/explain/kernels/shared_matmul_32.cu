// A tiled matrix product: two loads from shared memory for each multiply-add.
#pragma keet size   N = 1024
#pragma keet check  N = 64
#pragma keet in     A : f32[N][N] = uniform(-1, 1)
#pragma keet in     B : f32[N][N] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N*N*N, bytes = 12*N*N
#pragma keet launch matmul<<<dim3(N/32, N/32), dim3(32, 32)>>>(A, B, C, N)

__global__ void matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float a[32][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        a[ty][tx] = A[y * n + k + tx];
        b[ty][tx] = B[(k + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j++)
            sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    C[y * n + x] = sum;
}
