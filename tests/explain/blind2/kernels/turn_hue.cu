// Planes of red, green and blue, turned by a matrix in registers.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     X : f32[3][N] = uniform(0, 1)
#pragma keet out    Y : f32[3][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 15*N, bytes = 24*N
#pragma keet launch turn<<<N/1024, 256>>>(X, Y, N/4)

__device__ float4 mix(float4 a, float4 b, float4 c, float u, float v, float w)
{
    return make_float4(u * a.x + v * b.x + w * c.x, u * a.y + v * b.y + w * c.y, u * a.z + v * b.z + w * c.z, u * a.w + v * b.w + w * c.w);
}
__global__ void turn(const float4 *__restrict__ X, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 r = X[i], g = X[n + i], b = X[2 * n + i];
    Y[i] = mix(r, g, b, 0.8f, 0.3f, -0.1f);
    Y[n + i] = mix(r, g, b, -0.1f, 0.8f, 0.3f);
    Y[2 * n + i] = mix(r, g, b, 0.3f, -0.1f, 0.8f);
}
