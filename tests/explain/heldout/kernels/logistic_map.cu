// Iterates the logistic map; the constants have no f.
#pragma keet size   N = 1048576
#pragma keet check  N = 500
#pragma keet in     X : f32[N] = uniform(0.1, 0.9)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-1, abs = 1e-1
#pragma keet work   flops = 24*N, bytes = 8*N
#pragma keet launch logistic<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void logistic(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i];
    for (int k = 0; k < 8; k++)
        x = 2.9 * x * (1.0 - x);
    Y[i] = x;
}
