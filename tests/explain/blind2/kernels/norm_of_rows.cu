// The length of each row of 1024, a warp for each.
#pragma keet size   N = 16384
#pragma keet check  N = 64
#pragma keet in     X : f32[N][1024] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2048*N, bytes = 4100*N
#pragma keet launch lengths<<<N/8, 256>>>(X, Y)

__global__ void lengths(const float4 *__restrict__ X, float *__restrict__ Y)
{
    int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float4 x = X[row * 256 + k * 32 + lane];
        sum += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        Y[row] = sqrtf(sum);
}
