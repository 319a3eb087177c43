// A block computes the window once, in shared memory.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet in     T : f32[64] = uniform(0, 3)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch filter<<<ceil_div(N, 256), 256>>>(X, T, Y, N)

__global__ void filter(const float *__restrict__ X, const float *__restrict__ T, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float w[64];
    if (threadIdx.x < 64)
        w[threadIdx.x] = expf(-T[threadIdx.x] * T[threadIdx.x]);
    __syncthreads();
    if (i >= n)
        return;
    float x = X[i], sum = 0;
#pragma unroll 4
    for (int k = 0; k < 64; k++)
        sum = sum * x + w[k];
    Y[i] = sum;
}
