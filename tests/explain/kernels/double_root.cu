// A double-precision root of single-precision data.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(0, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 8*N, bytes = 32*N
#pragma keet launch roots<<<ceil_div(N, 128), 128>>>(X, Y, N)

__device__ float root(float x)
{
    return (float)sqrt((double)x + 1.0);
}
__global__ void roots(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = reinterpret_cast<const float4 *>(X)[i];
    reinterpret_cast<float4 *>(Y)[i] = make_float4(root(v.x), root(v.y), root(v.z), root(v.w));
}
