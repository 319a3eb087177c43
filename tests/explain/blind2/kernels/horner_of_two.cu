// Two polynomials of degree 256 in the same argument, four arguments per thread.
#pragma keet size   N = 4325376
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 1025*N, bytes = 8*N
#pragma keet launch horner<<<N/1024, 256>>>(X, Y)

__device__ float both(float x)
{
    float a = 1, b = 0.5f;
#pragma unroll 64
    for (int k = 0; k < 256; k++) {
        a = fmaf(a, x, 0.3f);
        b = fmaf(b, x, -0.2f);
    }
    return a * b;
}
__global__ void horner(const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 x = X[i];
    Y[i] = make_float4(both(x.x), both(x.y), both(x.z), both(x.w));
}
