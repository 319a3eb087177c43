// A token goes from warp to warp, and every warp waits until the holder has passed it on.
#pragma keet size   N = 1024
#pragma keet check  N = 4
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 131072*N, bytes = 8192*N
#pragma keet launch token<<<N, 1024>>>(X, Y)

__global__ void token(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s;
    int t = threadIdx.x;
    long i = blockIdx.x * 1024L + t;
    float v = X[i];
    if (t == 0)
        s = 1;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 32; k++) {
        if (t / 32 == k) {
            float w = s;
#pragma unroll
            for (int j = 0; j < 32; j++)
                w = w * 0.9f + __shfl_sync(~0u, v, j);
            if (t % 32 == 0)
                s = w;
        }
        __syncthreads();
    }
    Y[i] = v + s;
}
