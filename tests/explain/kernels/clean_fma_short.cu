// Four chains, half as long.
#pragma keet size   N = 2162688
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2048*N, bytes = 8*N
#pragma keet launch iterate<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void iterate(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = X[i], b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 16
    for (int k = 0; k < 256; k++) {
        a = a * 0.99f + 0.01f;
        b = b * 0.98f + 0.02f;
        c = c * 0.97f + 0.03f;
        d = d * 0.96f + 0.04f;
    }
    Y[i] = a + b + c + d;
}
