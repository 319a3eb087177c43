// Two planes change places.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     A : f32[N] = uniform(-1, 1)
#pragma keet in     B : f32[N] = uniform(-1, 1)
#pragma keet out    C : f32[N]
#pragma keet out    D : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 16*N
#pragma keet launch swap<<<N/1024, 256>>>(A, B, C, D)

__global__ void swap(const float4 *__restrict__ A, const float4 *__restrict__ B, float4 *__restrict__ C, float4 *__restrict__ D)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = A[i], b = B[i];
    C[i] = make_float4(b.x, b.y, b.z, b.w);
    D[i] = make_float4(a.x, a.y, a.z, a.w);
}
