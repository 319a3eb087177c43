// A tree reduction of 1024 threads, a barrier at each level, repeated for many rows.
#pragma keet size   N = 2048
#pragma keet check  N = 4
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*8]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 16384*N, bytes = 4096*N
#pragma keet launch tree<<<N, 1024>>>(X, Y)

__global__ void tree(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    float v = X[blockIdx.x * 1024L + t];
    for (int r = 0; r < 8; r++) {
        s[t] = v * r;
        __syncthreads();
        for (int d = 512; d > 0; d /= 2) {
            if (t < d)
                s[t] += s[t + d];
            __syncthreads();
        }
        if (t == 0)
            Y[blockIdx.x * 8 + r] = s[0];
        __syncthreads();
    }
}
