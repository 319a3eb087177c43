// Thread 0 adds up what the warps found while all the others wait.
#pragma keet size   N = 2048
#pragma keet check  N = 4
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 10240*N, bytes = 8192*N
#pragma keet launch adder<<<N, 1024>>>(X, Y)

__global__ void adder(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[33];
    int t = threadIdx.x;
    long i = blockIdx.x * 1024L + t;
    float v = X[i];
#pragma unroll 1
    for (int r = 0; r < 4; r++) {
        if (t % 32 == 0)
            s[t / 32] = v;
        __syncthreads();
        if (t == 0) {
            float sum = 0;
            for (int k = 0; k < 32; k++)
                sum = sum * 0.5f + s[k];
            s[32] = sum;
        }
        __syncthreads();
        v += s[32];
    }
    Y[i] = v;
}
