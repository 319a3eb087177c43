// Products of complex numbers, two a thread.
#pragma keet size   N = 6291456
#pragma keet check  N = 1000
#pragma keet in     A : f32[4*N] = uniform(-1, 1)
#pragma keet in     B : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 12*N, bytes = 48*N
#pragma keet launch go<<<ceil_div(N, 256), 256>>>(A, B, Y, N)

__global__ void go(const float4 *__restrict__ A, const float4 *__restrict__ B, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 a = A[i], b = B[i];
    Y[i] = make_float4(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x, a.z * b.z - a.w * b.w, a.z * b.w + a.w * b.z);
}
