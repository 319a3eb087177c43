// No shared memory beyond what is used.
#pragma keet size   N = 21120
#pragma keet check  N = 3
#pragma keet in     X : f32[N*512] = uniform(-1, 1)
#pragma keet out    Y : f32[N*512]
#pragma keet work   flops = 512*N, bytes = 4096*N
#pragma keet launch copy<<<N, 32, 2048>>>(X, Y)

extern __shared__ float4 held[];
__global__ void copy(const float *__restrict__ X, float *__restrict__ Y)
{
    const float4 *x = reinterpret_cast<const float4 *>(X) + (long)blockIdx.x * 128;
    float4 *y = reinterpret_cast<float4 *>(Y) + (long)blockIdx.x * 128;
#pragma unroll 1
    for (int k = threadIdx.x; k < 128; k += 32)
        held[k] = x[k];
#pragma unroll 1
    for (int k = threadIdx.x; k < 128; k += 32)
        y[k] = held[k];
}
