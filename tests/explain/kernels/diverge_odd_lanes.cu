// Even and odd lanes take loops of their own.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch odd<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void odd(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = X[i];
    if (threadIdx.x % 4 == 0) {
#pragma unroll 8
        for (int k = 0; k < 128; k++)
            v = v * 0.99f + 0.01f;
    } else if (threadIdx.x % 4 == 1) {
#pragma unroll 8
        for (int k = 0; k < 128; k++)
            v = v * 0.98f - 0.01f;
    } else if (threadIdx.x % 4 == 2) {
#pragma unroll 8
        for (int k = 0; k < 128; k++)
            v = v * 0.97f - 0.02f;
    }
    Y[i] = v;
}
