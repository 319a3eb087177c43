// Blocks of 256 words of 16 bytes, each turned round through shared memory.
#pragma keet size   N = 4194304
#pragma keet check  N = 1024
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 0, bytes = 32*N
#pragma keet launch reverse<<<N/256, 256>>>(X, Y)

__global__ void reverse(const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    __shared__ float4 s[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    s[t] = X[first + t];
    __syncthreads();
    Y[first + t] = s[255 - t];
}
