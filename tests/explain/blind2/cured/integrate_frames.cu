// The light that each pixel of a small detector collects over 128 frames.
#pragma keet size   N = 33792
#pragma keet check  N = 1024
#pragma keet in     F : f32[128][4*N] = uniform(0, 1)
#pragma keet out    L : f32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch integrate<<<N/128, 128>>>(F, L, N)

__global__ void integrate(const float4 *__restrict__ F, float4 *__restrict__ L, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 16
    for (int k = 0; k < 128; k++) {
        float4 v = F[(long)k * n + i];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    L[i] = sum;
}
