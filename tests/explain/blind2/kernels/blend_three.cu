// Three exposures, weighted.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     A : f32[N] = uniform(-1, 1)
#pragma keet in     B : f32[N] = uniform(-1, 1)
#pragma keet in     C : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 16*N
#pragma keet launch blend<<<N/1024, 256>>>(A, B, C, Y)

__global__ void blend(const float4 *__restrict__ A, const float4 *__restrict__ B, const float4 *__restrict__ C, float4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = A[i], b = B[i], c = C[i];
    Y[i] = make_float4(0.2f * a.x + 0.5f * b.x + 0.3f * c.x, 0.2f * a.y + 0.5f * b.y + 0.3f * c.y, 0.2f * a.z + 0.5f * b.z + 0.3f * c.z, 0.2f * a.w + 0.5f * b.w + 0.3f * c.w);
}
