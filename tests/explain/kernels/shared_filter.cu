// A long filter with signal and taps in shared memory, one output per thread.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N+256] = uniform(-1, 1)
#pragma keet in     W : f32[256] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 512*N, bytes = 8*N
#pragma keet launch filter<<<ceil_div(N, 256), 256>>>(X, W, Y, N)

__global__ void filter(const float *__restrict__ X, const float *__restrict__ W, float *__restrict__ Y, int n)
{
    __shared__ float x[512], w[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    x[t] = i < n + 256 ? X[i] : 0;
    x[t + 256] = i + 256 < n + 256 ? X[i + 256] : 0;
    w[t] = W[t];
    __syncthreads();
    float sum = 0;
#pragma unroll 16
    for (int k = 0; k < 256; k++)
        sum += w[k] * x[t + k];
    if (i < n)
        Y[i] = sum;
}
