// The loss of residuals, quadratic near zero.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     R : f32[N] = uniform(-3, 3)
#pragma keet out    L : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 8*N
#pragma keet launch huber<<<N/1024, 256>>>(R, L)

__device__ float loss_of(float r)
{
    float a = fabsf(r);
    return a < 1 ? 0.5f * r * r : a - 0.5f;
}
__global__ void huber(const float4 *__restrict__ R, float4 *__restrict__ L)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 r = R[i];
    L[i] = make_float4(loss_of(r.x), loss_of(r.y), loss_of(r.z), loss_of(r.w));
}
