// The threads of a warp add by shuffles for all rows, and each of eight warps adds a row of what the warps found.
#pragma keet size   N = 2048
#pragma keet check  N = 4
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*8]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 16384*N, bytes = 4096*N
#pragma keet launch tree<<<N, 1024>>>(X, Y)

__global__ void tree(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[8][32];
    int t = threadIdx.x;
    float v = X[blockIdx.x * 1024L + t];
#pragma unroll
    for (int r = 0; r < 8; r++) {
        float sum = v * r;
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (t % 32 == 0)
            s[r][t / 32] = sum;
    }
    __syncthreads();
    if (t < 256) {
        float sum = s[t / 32][t % 32];
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (t % 32 == 0)
            Y[blockIdx.x * 8 + t / 32] = sum;
    }
}
