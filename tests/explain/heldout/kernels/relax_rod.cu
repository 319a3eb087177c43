// Twelve steps of relaxation on a short rod, a launch each.
#pragma keet size   N = 8192
#pragma keet check  N = 100
#pragma keet inout  X : f32[N] = uniform(0, 1)
#pragma keet temp   Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 36*N, bytes = 8*N
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(Y, X, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(Y, X, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(Y, X, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(Y, X, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(Y, X, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch relax<<<ceil_div(N, 256), 256>>>(Y, X, N)

__global__ void relax(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float left = from[i > 0 ? i - 1 : 0], right = from[i < n - 1 ? i + 1 : n - 1];
    to[i] = 0.25f * left + 0.5f * from[i] + 0.25f * right;
}
