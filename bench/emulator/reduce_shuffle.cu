// Sum by warp shuffles, then one atomic per block.
#pragma keet size   N = 2097152
#pragma keet in     X : f32[N]
#pragma keet inout  Y : f32[1]
#pragma keet launch reduce<<<N/2048, 256>>>(X, Y)

__global__ void reduce(const float *X, float *Y)
{
    __shared__ float part[8];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < 2048; i += 256)
        sum += X[blockIdx.x * 2048 + i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < 8 ? part[t] : 0;
        for (int d = 4; d > 0; d /= 2)
            sum += __shfl_down_sync(~0u, sum, d);
        if (t == 0)
            atomicAdd(Y, sum);
    }
}
