// Roots in single precision.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 128*N, bytes = 8*N
#pragma keet launch distances<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void distances(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++) {
        float d = x - 0.03125f * k;
        sum += sqrtf(d * d + 0.25f);
    }
    Y[i] = sum;
}
