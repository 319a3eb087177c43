// Transpose through a padded tile in shared memory.
#pragma keet size   N = 1024
#pragma keet in     A : f32[N][N]
#pragma keet out    B : f32[N][N]
#pragma keet launch transpose<<<dim3(N/32, N/32), dim3(32, 8)>>>(A, B, N)

__global__ void transpose(const float *A, float *B, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = A[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        B[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
