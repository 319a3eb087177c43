// A transpose through shared memory: all lanes of a warp read one bank. Cured: rows of 33 words.
#pragma keet size   N = 2048
#pragma keet check  N = 64
#pragma keet in     X : f32[N][N]
#pragma keet out    Y : f32[N][N]
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch transpose<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(X, Y, N)

__global__ void transpose(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    __shared__ float tile[32][32 + CURED];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        tile[threadIdx.y + r][threadIdx.x] = X[(y + r) * n + x];
    __syncthreads();
    for (int r = 0; r < 32; r += 8)
        Y[(blockIdx.x * 32 + threadIdx.y + r) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + r];
}
