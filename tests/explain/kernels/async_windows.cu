// Tiles go through registers into shared memory; all wait for each tile.
#pragma keet size   N = 67584
#pragma keet check  N = 1024
#pragma keet in     X : f32[64*N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 128*N, bytes = 260*N
#pragma keet launch sums<<<N/256, 256>>>(X, Y, N)

__global__ void sums(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
        tile[t] = X[k * n + i];
        __syncthreads();
        sum += tile[255 - t] * tile[t ^ 1];
        __syncthreads();
    }
    Y[i] = sum;
}
