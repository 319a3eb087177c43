// A step of Adagrad.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     G : f32[N] = uniform(-1, 1)
#pragma keet inout  H : f32[N] = uniform(0.5, 2)
#pragma keet inout  W : f32[N] = uniform(-1, 1)
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 5*N, bytes = 20*N
#pragma keet launch step<<<N/1024, 256>>>(G, H, W)

__device__ void one(float g, float &h, float &w)
{
    h += g * g;
    w -= 0.01f * g * rsqrtf(h);
}

__global__ void step(const float4 *__restrict__ G, float4 *__restrict__ H, float4 *__restrict__ W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 g = G[i], h = H[i], w = W[i];
    one(g.x, h.x, w.x);
    one(g.y, h.y, w.y);
    one(g.z, h.z, w.z);
    one(g.w, h.w, w.w);
    H[i] = h;
    W[i] = w;
}
