// The threads of a warp add by shuffles, and so do the warps.
#pragma keet size   N = 2048
#pragma keet check  N = 4
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 5120*N, bytes = 8192*N
#pragma keet launch normalise<<<N, 1024>>>(X, Y)

__global__ void normalise(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float2 s[32];
    int t = threadIdx.x;
    long i = blockIdx.x * 1024L + t;
    float v = X[i];
    float sum = v, squares = v * v;
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(~0u, sum, d);
        squares += __shfl_xor_sync(~0u, squares, d);
    }
    if (t % 32 == 0)
        s[t / 32] = make_float2(sum, squares);
    __syncthreads();
    sum = s[t % 32].x, squares = s[t % 32].y;
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(~0u, sum, d);
        squares += __shfl_xor_sync(~0u, squares, d);
    }
    float mean = sum / 1024, scale = rsqrtf(squares / 1024 - mean * mean);
    Y[i] = (v - mean) * scale;
}
