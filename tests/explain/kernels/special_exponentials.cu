// A sum of powers, each as an exponential.
#pragma keet size   N = 4194304
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch sums<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void sums(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], sum = 0;
#pragma unroll 4
    for (float k = 0; k < 64; k++) {
        sum += __expf(-x * k);
    }
    Y[i] = sum;
}
