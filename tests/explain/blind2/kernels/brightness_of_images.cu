// The mean brightness of four images.
#pragma keet size   R = 4, C = 131072
#pragma keet check  R = 4, C = 4096
#pragma keet in     X : f32[R][4*C] = uniform(0, 1)
#pragma keet out    Y : f32[R]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch mean<<<R, 1024>>>(X, Y, C)

__global__ void mean(const float4 *__restrict__ X, float *__restrict__ Y, int c)
{
    __shared__ float s[32];
    const float4 *image = X + (long)blockIdx.x * c;
    float sum = 0;
#pragma unroll 4
    for (int k = threadIdx.x; k < c; k += 1024) {
        float4 v = image[k];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = s[threadIdx.x];
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x == 0)
            Y[blockIdx.x] = sum / (4.0f * c);
    }
}
