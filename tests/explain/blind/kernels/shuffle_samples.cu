// Samples of 1024 floats in a random order, one warp per sample.
#pragma keet size   N = 33792
#pragma keet check  N = 40
#pragma keet in     I : i32[N] = permutation()
#pragma keet in     E : f32[N][1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N][1024]
#pragma keet work   flops = 0, bytes = 8192*N
#pragma keet launch shuffle<<<N/8, 256>>>(I, E, Y)

__global__ void shuffle(const int *__restrict__ I, const float4 *__restrict__ E, float4 *__restrict__ Y)
{
    int at = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const float4 *from = E + (size_t)I[at] * 256 + lane;
    float4 *to = Y + (size_t)at * 256 + lane;
    float4 v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = from[k * 32];
#pragma unroll
    for (int k = 0; k < 8; k++)
        to[k * 32] = v[k];
}
