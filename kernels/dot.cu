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
#pragma keet launch dot_blocks<<<ceil_div(N, BLOCK), BLOCK, 4*BLOCK>>>(X, Y, PARTIAL, N)
#pragma keet launch dot_total<<<1, 1>>>(PARTIAL, RESULT, ceil_div(N, BLOCK))

__global__ void dot_blocks(const float *x, const float *y, float *partial, int n)
{
    extern __shared__ float cache[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cache[threadIdx.x] = i < n ? x[i] * y[i] : 0.0f;
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0)
            cache[threadIdx.x] += cache[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = cache[0];
}

__global__ void dot_total(const float *partial, float *result, int blocks)
{
    float sum = 0;
    for (int i = 0; i < blocks; i++)
        sum += partial[i];
    result[0] = sum;
}
