// Two passes over a vector that is far larger than L2, where one would do.
#pragma keet size   N = 4194304
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet temp   T : f32[4*N]
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 8*N, bytes = 32*N
#pragma keet launch scale<<<ceil_div(N, 256), 256>>>(X, T, N)
#pragma keet launch shift<<<ceil_div(N, 256), 256>>>(T, Y, N)

__global__ void scale(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<const float4 *>(X)[i];
        reinterpret_cast<float4 *>(Y)[i] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
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
