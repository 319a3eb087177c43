// One pass.
#pragma keet size   N = 4194304
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 12*N, bytes = 32*N
#pragma keet launch scale<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void scale(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<const float4 *>(X)[i];
        reinterpret_cast<float4 *>(Y)[i] = make_float4(v.x * 8, v.y * 8, v.z * 8, v.w * 8);
    }
}
