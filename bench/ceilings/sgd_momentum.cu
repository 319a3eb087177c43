// One step of stochastic gradient descent with weight decay and Nesterov momentum, f32. Three launches,
// one weight per thread: decay into the gradient, momentum, weights.
#pragma keet size   N = 2097152
#pragma keet check  N = 4099
#pragma keet check  N = 1024
#pragma keet check  N = 31
#pragma keet in     G : f32[N] = normal(0, 1)
#pragma keet inout  V : f32[N] = normal(0, 1)
#pragma keet inout  W : f32[N] = uniform(-1, 1)
#pragma keet scalar rate : f32 = 0.05
#pragma keet scalar momentum : f32 = 0.9
#pragma keet scalar decay : f32 = 0.01
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 8*N, bytes = 20*N
#pragma keet tune   BLOCK = 256 in {64, 128, 256, 512}
#pragma keet temp   D : f32[N]
#pragma keet tune   BLOCKS = 1056 in {264, 528, 1056, 2112}
#pragma keet launch decayed<<<ceil_div(N, BLOCK), BLOCK>>>(G, W, D, decay, N)
#pragma keet launch push<<<ceil_div(ceil_div(N, BLOCK), 4), BLOCK>>>(V, D, momentum, N)
#pragma keet launch step<<<min(ceil_div(N, BLOCK), BLOCKS), BLOCK>>>(W, V, D, rate, momentum, N)

__global__ void decayed(const float *g, const float *w, float *d, float decay, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        d[i] = g[i] + decay * w[i];
}

__global__ void push(float *v, const float *d, float momentum, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 v4 = *reinterpret_cast<const float4 *>(&v[i]);
        float4 d4 = *reinterpret_cast<const float4 *>(&d[i]);
        {
            v4.x = momentum * v4.x + d4.x;
        }
        {
            v4.y = momentum * v4.y + d4.y;
        }
        {
            v4.z = momentum * v4.z + d4.z;
        }
        {
            v4.w = momentum * v4.w + d4.w;
        }
        *reinterpret_cast<float4 *>(&v[i]) = v4;
    } else {
        for (; i < n; i++) {
            v[i] = momentum * v[i] + d[i];
        }
    }
}

__global__ void step(float *w, const float *v, const float *d, float rate, float momentum, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        w[i] = w[i] - rate * (d[i] + momentum * v[i]);
}
