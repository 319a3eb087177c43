// The sum of two vectors.
#pragma keet size   N = 8388608
#pragma keet check  N = 1024
#pragma keet in     A : f32[4*N] = uniform(-1, 1)
#pragma keet in     B : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 4*N, bytes = 48*N
#pragma keet launch stream<<<ceil_div(N, 256), 256>>>(A, B, Y, N)

__device__ float f(float a, float b)
{
    return a + b;
}
__global__ void stream(const float4 *__restrict__ A, const float4 *__restrict__ B, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 a = A[i];
    float4 b = B[i];
    Y[i] = make_float4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
}
