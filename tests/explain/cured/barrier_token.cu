// Each warp runs over its own elements at once, and only 32 results go one after the other.
#pragma keet size   N = 1024
#pragma keet check  N = 4
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 131072*N, bytes = 8192*N
#pragma keet launch token<<<N, 1024>>>(X, Y)

__global__ void token(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float part[32];
    int t = threadIdx.x;
    long i = blockIdx.x * 1024L + t;
    float v = X[i], w = 0;
#pragma unroll
    for (int j = 0; j < 32; j++)
        w = w * 0.9f + __shfl_sync(~0u, v, j);
    if (t % 32 == 0)
        part[t / 32] = w;
    __syncthreads();
    float s = 1;
#pragma unroll
    for (int k = 0; k < 32; k++)
        s = s * 0.0343368f + part[k]; // 0.9 to the 32nd
    Y[i] = v + s;
}
