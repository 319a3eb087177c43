// How far one field is from another, relative to their size.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     A : f32[N] = uniform(1, 2)
#pragma keet in     B : f32[N] = uniform(1, 2)
#pragma keet out    E : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 12*N
#pragma keet launch relative<<<N/1024, 256>>>(A, B, E)

__global__ void relative(const float4 *__restrict__ A, const float4 *__restrict__ B, float4 *__restrict__ E)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = A[i], b = B[i];
    E[i] = make_float4(fabsf(a.x - b.x) * __frcp_rn(a.x + b.x), fabsf(a.y - b.y) * __frcp_rn(a.y + b.y), fabsf(a.z - b.z) * __frcp_rn(a.z + b.z), fabsf(a.w - b.w) * __frcp_rn(a.w + b.w));
}
