// All rows begin one element behind a sector's border.
#pragma keet size   N = 16777216
#pragma keet check  N = 1000
#pragma keet in     X : f32[N+1] = uniform(-1, 1)
#pragma keet out    Y : f32[N+1]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = N, bytes = 8*N
#pragma keet launch shift<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void shift(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        Y[0] = 0;
    if (i < n)
        Y[i + 1] = X[i + 1] * 2;
}
