// A step of gradient descent with momentum.
#pragma keet size   N = 6291456
#pragma keet check  N = 1000
#pragma keet in     G : f32[4*N] = uniform(-1, 1)
#pragma keet inout  M : f32[4*N] = uniform(-1, 1)
#pragma keet inout  Y : f32[4*N] = uniform(-1, 1)
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 16*N, bytes = 80*N
#pragma keet launch go<<<ceil_div(N, 256), 256>>>(G, M, Y, N)

__global__ void go(const float4 *__restrict__ G, float4 *__restrict__ M, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 g = G[i], m = M[i], y = Y[i];
    m = make_float4(0.9f * m.x + g.x, 0.9f * m.y + g.y, 0.9f * m.z + g.z, 0.9f * m.w + g.w);
    M[i] = m;
    Y[i] = make_float4(y.x - 0.01f * m.x, y.y - 0.01f * m.y, y.z - 0.01f * m.z, y.w - 0.01f * m.w);
}
