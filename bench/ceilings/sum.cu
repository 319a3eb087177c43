// Sum of an f32 vector in two launches: each block adds up a run of CHUNK elements, then one block
// adds up the runs.
#pragma keet size   N = 4194304
#pragma keet check  N = 10007
#pragma keet check  N = 4096
#pragma keet check  N = 5
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    TOTAL : f32[1]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = N, bytes = 4*N
#pragma keet tune   CHUNK = 4096 in {256, 512, 1024, 2048, 4096, 8192}
#pragma keet tune   BLOCK = 256 in {32, 64, 128, 256, 512}
#pragma keet temp   PARTIAL : f32[ceil_div(N, CHUNK)]
#pragma keet launch sum_runs<<<ceil_div(N, CHUNK), BLOCK>>>(X, PARTIAL, N, CHUNK, ceil_div(N, CHUNK))
#pragma keet launch sum_partials<<<1, 1024>>>(PARTIAL, TOTAL, ceil_div(N, CHUNK))

// The sum over all threads of the block, in its first thread.
__device__ float block_sum(float sum)
{
    __shared__ float warps[32];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f;
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    return sum;
}

__global__ void sum_runs(const float *x, float *partial, int n, int chunk, int runs)
{
    int run = blockIdx.x;
    if (run < runs) {
        int begin = run * chunk;
        int end = min(begin + chunk, n);
        float sum = 0;
        int vectors = (end - begin) / 4;
        const float4 *from = reinterpret_cast<const float4 *>(x + begin);
#pragma unroll 4
        for (int i = threadIdx.x; i < vectors; i += BLOCK) {
            float4 v = from[i];
            sum += (v.x + v.y) + (v.z + v.w);
        }
        int rest = begin + 4 * vectors + threadIdx.x;
        if (rest < end)
            sum += x[rest];
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            partial[run] = sum;
    }
}

__global__ void sum_partials(const float *partial, float *total, int runs)
{
    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < runs; i += 1024)
        sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        total[0] = sum;
}
