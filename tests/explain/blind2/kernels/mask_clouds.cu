// Pixels whose cloud is thicker than a threshold become zero.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet in     C : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 12*N
#pragma keet launch mask<<<N/1024, 256>>>(X, C, Y)

__global__ void mask(const float4 *__restrict__ X, const float4 *__restrict__ C, float4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 x = X[i], c = C[i];
    Y[i] = make_float4(c.x > 0.4f ? 0 : x.x, c.y > 0.4f ? 0 : x.y, c.z > 0.4f ? 0 : x.z, c.w > 0.4f ? 0 : x.w);
}
