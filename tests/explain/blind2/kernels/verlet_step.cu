// Places of particles one step on, from the two before.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     A : f32[N] = uniform(-1, 1)
#pragma keet in     F : f32[N] = uniform(-1, 1)
#pragma keet inout  P : f32[N] = uniform(-1, 1)
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 16*N
#pragma keet launch verlet<<<N/1024, 256>>>(A, F, P)

__global__ void verlet(const float4 *__restrict__ A, const float4 *__restrict__ F, float4 *__restrict__ P)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = A[i], f = F[i], p = P[i];
    P[i] = make_float4(2 * a.x - p.x + 0.0001f * f.x, 2 * a.y - p.y + 0.0001f * f.y, 2 * a.z - p.z + 0.0001f * f.z, 2 * a.w - p.w + 0.0001f * f.w);
}
