// As many blocks as fit.
#pragma keet size   N = 65536
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 4*N, bytes = 32*N
#pragma keet launch copy<<<264, 1024>>>(X, Y, N)

__global__ void copy(const float *__restrict__ X, float *__restrict__ Y, int n)
{
#pragma unroll 4
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 264 * 1024)
        reinterpret_cast<float4 *>(Y)[i] = reinterpret_cast<const float4 *>(X)[i];
}
