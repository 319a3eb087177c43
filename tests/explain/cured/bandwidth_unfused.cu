// One pass.
#pragma keet size   N = 4194304
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 8*N, bytes = 32*N
#pragma keet launch scale<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void scale(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<const float4 *>(X)[i];
        reinterpret_cast<float4 *>(Y)[i] = make_float4(v.x * 2 + 2, v.y * 2 + 2, v.z * 2 + 2, v.w * 2 + 2);
    }
}
__global__ void shift(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<const float4 *>(X)[i];
        reinterpret_cast<float4 *>(Y)[i] = make_float4(v.x + 2, v.y + 2, v.z + 2, v.w + 2);
    }
}
