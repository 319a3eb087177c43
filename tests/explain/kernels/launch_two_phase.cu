// Scale, shift, clamp and square, each a launch of its own over a small vector.
#pragma keet size   N = 33792
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet temp   A : f32[4*N]
#pragma keet temp   B : f32[4*N]
#pragma keet temp   C : f32[4*N]
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 16*N, bytes = 32*N
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, A, N)
#pragma keet launch shift<<<ceil_div(N, 128), 128>>>(A, B, N)
#pragma keet launch square<<<ceil_div(N, 128), 128>>>(B, C, N)
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(C, Y, N)

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
__global__ void square(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<const float4 *>(X)[i];
        reinterpret_cast<float4 *>(Y)[i] = make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
    }
}
