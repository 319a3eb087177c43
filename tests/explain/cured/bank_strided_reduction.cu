// A column of padding for each 32 words.
#pragma keet size   N = 4194304
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[ceil_div(N, 256)]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 4*N
#pragma keet launch mix<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void mix(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    __shared__ float s[2048 + 64];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (int k = 0; k < 8; k++)
        s[(k * 256 + t) * 33 / 32] = i < n ? X[i] * k : 0;
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < 64; k++)
        sum += s[((t * 8 + k) & 2047) * 33 / 32];
    if (t == 0)
        Y[blockIdx.x] = sum;
}
