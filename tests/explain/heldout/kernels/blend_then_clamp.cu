// Blends two large vectors in one kernel and clamps the result in another.
#pragma keet size   N = 4194304
#pragma keet check  N = 1000
#pragma keet in     A : f32[4*N] = uniform(-1, 1)
#pragma keet in     B : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 16*N, bytes = 48*N
#pragma keet launch blend<<<ceil_div(N, 256), 256>>>(A, B, Y, N)
#pragma keet launch clamp<<<ceil_div(N, 256), 256>>>(Y, N)

__global__ void blend(const float4 *__restrict__ A, const float4 *__restrict__ B, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 a = A[i], b = B[i];
    Y[i] = make_float4(a.x + 0.3f * (b.x - a.x), a.y + 0.3f * (b.y - a.y), a.z + 0.3f * (b.z - a.z), a.w + 0.3f * (b.w - a.w));
}
__global__ void clamp(float4 *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 y = Y[i];
    Y[i] = make_float4(fminf(y.x, 0.5f), fminf(y.y, 0.5f), fminf(y.z, 0.5f), fminf(y.w, 0.5f));
}
