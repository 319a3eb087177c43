// A training step: the gradient is clipped, then the momentum and the weights are updated.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     G : f32[N] = uniform(-2, 2)
#pragma keet inout  M : f32[N] = uniform(-1, 1)
#pragma keet inout  W : f32[N] = uniform(-1, 1)
#pragma keet temp   C : f32[N]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 8*N, bytes = 20*N
#pragma keet launch clip<<<N/1024, 256>>>(G, C)
#pragma keet launch momentum<<<N/1024, 256>>>(C, M)
#pragma keet launch update<<<N/1024, 256>>>(M, W)

__global__ void clip(const float4 *__restrict__ G, float4 *__restrict__ C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 g = G[i];
    C[i] = make_float4(fminf(fmaxf(g.x, -1), 1), fminf(fmaxf(g.y, -1), 1), fminf(fmaxf(g.z, -1), 1),
        fminf(fmaxf(g.w, -1), 1));
}

__global__ void momentum(const float4 *__restrict__ C, float4 *__restrict__ M)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 c = C[i], m = M[i];
    M[i] = make_float4(0.9f * m.x + c.x, 0.9f * m.y + c.y, 0.9f * m.z + c.z, 0.9f * m.w + c.w);
}

__global__ void update(const float4 *__restrict__ M, float4 *__restrict__ W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 m = M[i], w = W[i];
    W[i] = make_float4(0.999f * w.x - 0.01f * m.x, 0.999f * w.y - 0.01f * m.y, 0.999f * w.z - 0.01f * m.z,
        0.999f * w.w - 0.01f * m.w);
}
