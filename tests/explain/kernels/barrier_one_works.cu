// One warp does the work and all the others wait for it.
#pragma keet size   N = 4096
#pragma keet check  N = 4
#pragma keet in     X : f32[N*512] = uniform(-1, 1)
#pragma keet out    Y : f32[N*512]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 65536*N, bytes = 4096*N
#pragma keet launch lead<<<N, 512>>>(X, Y)

__global__ void lead(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    long i = blockIdx.x * 512L + t;
    float v = X[i];
    for (int r = 0; r < 8; r++) {
        if (t < 32) {
            float w = v;
#pragma unroll 8
            for (int k = 0; k < 256; k++)
                w = w * 0.99f + 0.01f;
            s[t] = w;
        }
        __syncthreads();
        v += s[t & 31];
        __syncthreads();
    }
    Y[i] = v;
}
