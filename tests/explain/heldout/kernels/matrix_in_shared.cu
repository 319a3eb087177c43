// Products with a 64 x 64 matrix that lies in shared memory; two reads of it for each multiply-add.
#pragma keet size   N = 33792
#pragma keet check  N = 130
#pragma keet in     V : f32[N][64] = uniform(-1, 1)
#pragma keet in     M : f32[64][64] = uniform(-1, 1)
#pragma keet out    Y : f32[N][64]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 8192*N, bytes = 512*N
#pragma keet launch apply<<<ceil_div(N, 64), dim3(64, 4)>>>(V, M, Y, N)

__global__ void apply(const float *__restrict__ V, const float *__restrict__ M, float *__restrict__ Y, int n)
{
    __shared__ float m[64][64], v[4][64];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = y; k < 64; k += 4)
        m[k][x] = M[k * 64 + x];
    for (int k = 0; k < 16; k++) {
        int row = blockIdx.x * 64 + k * 4 + y;
        __syncthreads();
        v[y][x] = row < n ? V[(size_t)row * 64 + x] : 0.0f;
        __syncthreads();
        float sum = 0;
#pragma unroll 8
        for (int j = 0; j < 64; j++)
            sum += v[y][j] * m[j][x];
        if (row < n)
            Y[(size_t)row * 64 + x] = sum;
    }
}
