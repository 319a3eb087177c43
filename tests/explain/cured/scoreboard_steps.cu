// A table of two steps at once: half the trips to it.
#pragma keet size   N = 33792
#pragma keet check  N = 1024
#pragma keet in     X : u32[16][N] = integers(0, 2147483647)
#pragma keet in     T : i32[64] = integers(0, 15)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 2048*N, bytes = 68*N
#pragma keet launch run<<<N/128, 128>>>(X, T, Y, N)

__global__ void run(const unsigned *__restrict__ X, const int *__restrict__ T, int *__restrict__ Y, int n)
{
    __shared__ int next[64], next2[256];
    int i = blockIdx.x * 128 + threadIdx.x, state = 0;
    if (threadIdx.x < 64)
        next[threadIdx.x] = T[threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += 128)
        next2[k] = next[next[k / 16 * 4 + k % 4] * 4 + k % 16 / 4];
    __syncthreads();
    unsigned word[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        word[k] = X[k * n + i];
#pragma unroll 1
    for (int pass = 0; pass < 4; pass++)
#pragma unroll
        for (int k = 0; k < 16; k++)
#pragma unroll
            for (int j = 0; j < 32; j += 4)
                state = next2[state * 16 + (word[k] >> j & 15)];
    Y[i] = state;
}
