// Levels to power.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     D : f32[N] = uniform(-20, 20)
#pragma keet out    P : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 8*N
#pragma keet launch decibels<<<N/1024, 256>>>(D, P)

__global__ void decibels(const float4 *__restrict__ D, float4 *__restrict__ P)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 d = D[i];
    P[i] = make_float4(__expf(0.2302585f * d.x), __expf(0.2302585f * d.y), __expf(0.2302585f * d.z), __expf(0.2302585f * d.w));
}
