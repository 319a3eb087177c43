// 256 threads and one block per SM leave registers enough.
#pragma keet size   N = 262144
#pragma keet check  N = 2048
#pragma keet in     X : f32[N*64] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet work   flops = 128*N, bytes = 260*N
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch sums<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void __launch_bounds__(256, 2) sums(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s[64];
#pragma unroll
    for (int k = 0; k < 64; k++)
        s[k] = X[k * n + i];
#pragma unroll 1
    for (int r = 0; r < 8; r++) {
#pragma unroll
        for (int k = 0; k < 64; k++)
            s[k] = s[k] * s[(k + 17) & 63] + s[(k + 31) & 63];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 64; k++)
        sum += s[k];
    Y[i] = sum;
}
