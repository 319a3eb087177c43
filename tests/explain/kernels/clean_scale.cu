// A scaled vector.
#pragma keet size   N = 8388608
#pragma keet check  N = 1024
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 4*N, bytes = 32*N
#pragma keet launch stream<<<ceil_div(N, 256), 256>>>(X, Y, N)

__device__ float f(float x)
{
    return 2.5f * x;
}
__global__ void stream(const float4 *__restrict__ X, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 x = X[i];
    Y[i] = make_float4(f(x.x), f(x.y), f(x.z), f(x.w));
}
