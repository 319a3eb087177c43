// Distances between vectors from tiles in shared memory.
#pragma keet size   N = 1024
#pragma keet check  N = 64
#pragma keet in     A : f32[N][256] = uniform(-1, 1)
#pragma keet in     B : f32[N][256] = uniform(-1, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 3*256*N*N, bytes = 2048*N + 4*N*N
#pragma keet launch distances<<<dim3(N/16, N/16), dim3(16, 16)>>>(A, B, C, N)

__global__ void distances(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float a[16][33], b[16][33];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16, y = blockIdx.y * 16;
    float sum = 0;
    for (int k = 0; k < 256; k += 32) {
        a[ty][tx] = A[(y + ty) * 256 + k + tx];
        a[ty][tx + 16] = A[(y + ty) * 256 + k + tx + 16];
        b[ty][tx] = B[(x + ty) * 256 + k + tx];
        b[ty][tx + 16] = B[(x + ty) * 256 + k + tx + 16];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j++)
            sum += (a[ty][j] - b[tx][j]) * (a[ty][j] - b[tx][j]);
        __syncthreads();
    }
    C[(y + ty) * n + x + tx] = sum;
}
