// 512 steps of a damped spring, four per thread.
#pragma keet size   N = 4325376
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2048*N, bytes = 8*N
#pragma keet launch springs<<<N/1024, 256>>>(X, Y)

__device__ void step(float &x, float &v)
{
    v = fmaf(v, 0.98f, -0.03f);
    x = fmaf(x, 0.999f, v);
}
__global__ void springs(const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 x = X[i], v = {0.1f * x.x, 0.1f * x.y, 0.1f * x.z, 0.1f * x.w};
#pragma unroll 32
    for (int k = 0; k < 512; k++) {
        step(x.x, v.x);
        step(x.y, v.y);
        step(x.z, v.z);
        step(x.w, v.w);
    }
    Y[i] = x;
}
