// Four materials lie mixed, and each has a formula of its own.
#pragma keet size   N = 1048576
#pragma keet check  N = 500
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 8*N
#pragma keet launch shade<<<ceil_div(N, 256), 256>>>(X, Y, N)

__device__ float steps(float x, float a, float b, int nr)
{
    for (int k = 0; k < nr; k++)
        x = x * a + b;
    return x;
}

__global__ void shade(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], y;
    switch (i & 3) {
    case 0: y = steps(x, 0.5f, 0.1f, 100 + (i & 3)); break;
    case 1: y = steps(x, 0.6f, 0.2f, 90 + (i & 3)) + 1; break;
    case 2: y = steps(x, 0.7f, 0.3f, 110 + (i & 3)) * 2; break;
    default: y = steps(x, 0.8f, 0.4f, 80 + (i & 3)) - x; break;
    }
    Y[i] = y;
}
