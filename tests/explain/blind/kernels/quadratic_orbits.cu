// 1024 steps of a quadratic map for N starting points, four points per thread.
#pragma keet size   N = 8650752
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(0.1, 0.9)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*1024*N, bytes = 8*N
#pragma keet launch orbits<<<N/1024, 256>>>(X, Y)

__global__ void orbits(const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = X[i];
#pragma unroll 64
    for (int k = 0; k < 1024; k++) {
        v.x = fmaf(v.x, v.x, -0.7f);
        v.y = fmaf(v.y, v.y, -0.7f);
        v.z = fmaf(v.z, v.z, -0.7f);
        v.w = fmaf(v.w, v.w, -0.7f);
    }
    Y[i] = v;
}
