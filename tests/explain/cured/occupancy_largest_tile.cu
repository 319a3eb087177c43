// As much shared memory as is used.
#pragma keet size   N = 1056
#pragma keet check  N = 3
#pragma keet in     X : f32[N*8192] = uniform(-1, 1)
#pragma keet out    Y : f32[N*8192]
#pragma keet work   flops = 8192*N, bytes = 65536*N
#pragma keet launch copy<<<N, 128, 32768>>>(X, Y)

extern __shared__ float4 held[];
__global__ void copy(const float *__restrict__ X, float *__restrict__ Y)
{
    const float4 *x = reinterpret_cast<const float4 *>(X) + (long)blockIdx.x * 2048;
    float4 *y = reinterpret_cast<float4 *>(Y) + (long)blockIdx.x * 2048;
    for (int k = threadIdx.x; k < 2048; k += 128)
        held[k] = x[k];
    for (int k = threadIdx.x; k < 2048; k += 128)
        y[k] = held[k];
}
