// Wavelet coefficients, shrunk towards zero.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 8*N
#pragma keet launch soft<<<N/1024, 256>>>(X, Y)

__global__ void soft(const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 x = X[i];
    Y[i] = make_float4(copysignf(fmaxf(fabsf(x.x) - 0.2f, 0.0f), x.x), copysignf(fmaxf(fabsf(x.y) - 0.2f, 0.0f), x.y), copysignf(fmaxf(fabsf(x.z) - 0.2f, 0.0f), x.z), copysignf(fmaxf(fabsf(x.w) - 0.2f, 0.0f), x.w));
}
