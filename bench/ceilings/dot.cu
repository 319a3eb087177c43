// Inner product of two f32 vectors in two launches: a shared-memory tree in each block, then one
// thread adds up the blocks.
#pragma keet size   N = 4194304
#pragma keet check  N = 10007
#pragma keet check  N = 2048
#pragma keet check  N = 7
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet in     Y : f32[N] = uniform(0, 1)
#pragma keet out    RESULT : f32[1]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 8*N
#pragma keet tune   BLOCK = 256 in {64, 128, 256, 512, 1024}
#pragma keet temp   PARTIAL : f32[ceil_div(N, BLOCK)]
#pragma keet tune   THREADS = 1024 in {128, 256, 512, 1024}
#pragma keet launch dot_blocks<<<ceil_div(N, BLOCK), BLOCK, 4*BLOCK>>>(X, Y, PARTIAL, N)
#pragma keet launch dot_total<<<1, THREADS>>>(PARTIAL, RESULT, ceil_div(N, BLOCK))

__global__ void dot_blocks(const float *x, const float *y, float *partial, int n)
{
    extern __shared__ float cache[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cache[threadIdx.x] = i < n ? x[i] * y[i] : 0.0f;
    __syncthreads();
    __shared__ float part2[32];
    float value = cache[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0)
        part2[threadIdx.x / 32] = value;
    __syncthreads();
    value = part2[0];
    for (int warp = 1; warp < blockDim.x / 32; warp++)
        value += part2[warp];
    __syncthreads();
    if (threadIdx.x == 0)
        cache[0] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        partial[blockIdx.x] = cache[0];
}

__global__ void dot_total(const float *partial, float *result, int blocks)
{
    __shared__ float part[32];
    int lane = threadIdx.x;
    float sum = 0;
    #pragma unroll 4
    for (int i = lane; i < blocks; i += blockDim.x)
        sum += partial[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = part[0];
    for (int warp = 1; warp < blockDim.x / 32; warp++)
        sum += part[warp];
    __syncthreads();
    if (lane == 0)
        result[0] = sum;
}
