// One lane of each warp works while 31 look on.
#pragma keet size   N = 524288
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 32*N, bytes = 8*N
#pragma keet launch one<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void one(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = X[i];
    if (threadIdx.x % 32 == 0)
#pragma unroll 8
        for (int k = 0; k < 512; k++)
            v = v * 0.99f + 0.01f;
    Y[i] = v;
}
