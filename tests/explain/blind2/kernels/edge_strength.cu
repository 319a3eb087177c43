// The strength of edges: both derivatives of an image, and then their length.
#pragma keet size   N = 8388608
#pragma keet check  N = 8192
#pragma keet in     X : f32[N+4096] = uniform(0, 1)
#pragma keet temp   H : f32[N]
#pragma keet temp   V : f32[N]
#pragma keet out    E : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*N, bytes = 8*N
#pragma keet launch difference<<<N/1024, 256>>>(X, H, 1)
#pragma keet launch difference<<<N/1024, 256>>>(X, V, 512)
#pragma keet launch length<<<N/1024, 256>>>(H, V, E)

__global__ void difference(const float4 *__restrict__ X, float4 *__restrict__ D, int step)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = X[i], b = X[i + step];
    D[i] = make_float4(b.x - a.x, b.y - a.y, b.z - a.z, b.w - a.w);
}
__global__ void length(const float4 *__restrict__ H, const float4 *__restrict__ V, float4 *__restrict__ E)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 h = H[i], v = V[i];
    E[i] = make_float4(h.x * h.x + v.x * v.x, h.y * h.y + v.y * v.y, h.z * h.z + v.z * v.z, h.w * h.w + v.w * v.w);
}
