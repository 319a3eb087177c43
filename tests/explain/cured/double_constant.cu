// The constants are single.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 256*N, bytes = 32*N
#pragma keet launch poly<<<ceil_div(N, 128), 128>>>(X, Y, N)

__device__ float p(float x)
{
    float y = x;
    for (int k = 0; k < 16; k++)
        y = y * 0.99f + 0.001f * x;
    return y;
}
__global__ void poly(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = reinterpret_cast<const float4 *>(X)[i];
    reinterpret_cast<float4 *>(Y)[i] = make_float4(p(v.x), p(v.y), p(v.z), p(v.w));
}
