// The mean brightness of four images.
#pragma keet size   R = 4, C = 131072
#pragma keet check  R = 4, C = 4096
#pragma keet in     X : f32[R][4*C] = uniform(0, 1)
#pragma keet temp   T : f32[R][32]
#pragma keet out    Y : f32[R]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch part<<<dim3(32, R), 512>>>(X, T, C)
#pragma keet launch whole<<<R, 32>>>(T, Y, C)

__global__ void part(const float4 *__restrict__ X, float *__restrict__ T, int c)
{
    __shared__ float s[16];
    const float4 *image = X + (long)blockIdx.y * c;
    float sum = 0;
#pragma unroll 4
    for (int k = blockIdx.x * 512 + threadIdx.x; k < c; k += 32 * 512) {
        float4 v = image[k];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 16 ? s[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x == 0)
            T[blockIdx.y * 32 + blockIdx.x] = sum;
    }
}
__global__ void whole(const float *__restrict__ T, float *__restrict__ Y, int c)
{
    float sum = T[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0)
        Y[blockIdx.x] = sum / (4.0f * c);
}
