// The strength of edges: both derivatives of an image, and then their length.
#pragma keet size   N = 8388608
#pragma keet check  N = 8192
#pragma keet in     X : f32[N+4096] = uniform(0, 1)
#pragma keet out    E : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*N, bytes = 8*N
#pragma keet launch edges<<<N/1024, 256>>>(X, E)

__global__ void edges(const float4 *__restrict__ X, float4 *__restrict__ E)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = X[i], h = X[i + 1], v = X[i + 512];
    h.x -= a.x, h.y -= a.y, h.z -= a.z, h.w -= a.w;
    v.x -= a.x, v.y -= a.y, v.z -= a.z, v.w -= a.w;
    E[i] = make_float4(h.x * h.x + v.x * v.x, h.y * h.y + v.y * v.y, h.z * h.z + v.z * v.z, h.w * h.w + v.w * v.w);
}
