// All warps begin at the same row.
#pragma keet size   N = 67584
#pragma keet check  N = 1024
#pragma keet in     X : f32[262144] = uniform(-1, 1)
#pragma keet in     P : i32[2048] = permutation()
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 8192*N, bytes = 4*N + 1056768
#pragma keet launch lookup<<<N/512, 512>>>(X, P, Y)

__global__ void lookup(const float *__restrict__ X, const int *__restrict__ P, float *__restrict__ Y)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 8
    for (int k = 0; k < 2048; k++) {
        float4 v = reinterpret_cast<const float4 *>(X)[P[k] * 32 + lane];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    Y[blockIdx.x * 512 + threadIdx.x] = (sum.x + sum.y + sum.z + sum.w) * warp;
}
