// Rows of 65 words.
#pragma keet size   N = 8192
#pragma keet check  N = 64
#pragma keet in     X : f32[N*64] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 260*N
#pragma keet launch rows<<<ceil_div(N, 32), 256>>>(X, Y, N)

__global__ void rows(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    __shared__ float s[32][65];
    int first = blockIdx.x * 32;
    for (int k = threadIdx.x; k < 32 * 64; k += 256)
        s[k / 64][k % 64] = first * 64 + k < n * 64 ? X[first * 64 + k] : 0;
    __syncthreads();
    int lane = threadIdx.x % 32, part = threadIdx.x / 32;
    float sum = 0;
    for (int r = 0; r < 16; r++)
        for (int k = 0; k < 8; k++)
            sum += s[lane][(part + k + r) & 63];
    if (part == 0 && first + lane < n)
        Y[first + lane] = sum;
}
