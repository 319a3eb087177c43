// Reads a permuted vector; 160 KB of shared memory, of which little is used, leave room for one small block.
#pragma keet size   N = 2097152
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 4*N, bytes = 32*N
#pragma keet launch scale<<<ceil_div(N, 128), 128, 163840>>>(X, Y, N)

extern __shared__ float4 scratch[];
__global__ void scale(const float4 *__restrict__ X, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    float4 v = X[i];
    scratch[threadIdx.x] = make_float4(v.x * 3, v.y * 3, v.z * 3, v.w * 3);
    Y[i] = scratch[threadIdx.x];
}
