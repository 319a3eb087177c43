// Gradients are clipped in place.
#pragma keet size   N = 33554432
#pragma keet check  N = 4096
#pragma keet inout  G : f32[N] = normal(0, 1)
#pragma keet scalar limit : f32 = 1.0
#pragma keet work   flops = 2*N, bytes = 8*N
#pragma keet launch clip<<<N/4096, 256>>>(G, limit, N/4)

__global__ void clip(float4 *__restrict__ G, float limit, int n)
{
    int stride = gridDim.x * blockDim.x;
#pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float4 g = G[i];
        g.x = fminf(fmaxf(g.x, -limit), limit);
        g.y = fminf(fmaxf(g.y, -limit), limit);
        g.z = fminf(fmaxf(g.z, -limit), limit);
        g.w = fminf(fmaxf(g.w, -limit), limit);
        G[i] = g;
    }
}
