// Thread 0 adds up what all threads of the block hold, while the others wait.
#pragma keet size   N = 2048
#pragma keet check  N = 4
#pragma keet in     X : f32[N*1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N*1024]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 5120*N, bytes = 8192*N
#pragma keet launch normalise<<<N, 1024>>>(X, Y)

__global__ void normalise(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[1024], mean, scale;
    int t = threadIdx.x;
    long i = blockIdx.x * 1024L + t;
    float v = X[i];
    s[t] = v;
    __syncthreads();
    if (t == 0) {
        float sum = 0, squares = 0;
        for (int k = 0; k < 1024; k++) {
            sum += s[k];
            squares += s[k] * s[k];
        }
        mean = sum / 1024;
        scale = rsqrtf(squares / 1024 - mean * mean);
    }
    __syncthreads();
    Y[i] = (v - mean) * scale;
}
