// As many blocks as fit.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 4*N, bytes = 32*N
#pragma keet launch twice<<<264, 1024>>>(X, Y, N)

__global__ void twice(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = reinterpret_cast<const float4 *>(X)[i];
        reinterpret_cast<float4 *>(Y)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    }
}
