// Weights and velocities of one step of descent.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     G : f32[N] = uniform(-1, 1)
#pragma keet inout  V : f32[N] = uniform(-1, 1)
#pragma keet out    W : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 16*N
#pragma keet launch momentum<<<N/1024, 256>>>(G, V, W)

__global__ void momentum(const float4 *__restrict__ G, float4 *__restrict__ V, float4 *__restrict__ W)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 g = G[i], v = V[i];
    V[i] = make_float4(0.9f * v.x + g.x, 0.9f * v.y + g.y, 0.9f * v.z + g.z, 0.9f * v.w + g.w);
    W[i] = make_float4(-0.01f * (0.9f * v.x + g.x), -0.01f * (0.9f * v.y + g.y), -0.01f * (0.9f * v.z + g.z), -0.01f * (0.9f * v.w + g.w));
}
