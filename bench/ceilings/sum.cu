// Sum of an f32 vector in two launches: each thread adds up a run of CHUNK elements, then one thread
// adds up the runs.
#pragma keet size   N = 4194304
#pragma keet check  N = 10007
#pragma keet check  N = 4096
#pragma keet check  N = 5
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    TOTAL : f32[1]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = N, bytes = 4*N
#pragma keet tune   CHUNK = 2048 in {256, 512, 1024, 2048, 4096}
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet temp   PARTIAL : f32[ceil_div(N, CHUNK)]
#pragma keet tune   THREADS = 1024 in {128, 256, 512, 1024}
#pragma keet launch sum_runs<<<ceil_div(32*ceil_div(N, CHUNK), BLOCK), BLOCK>>>(X, PARTIAL, N, CHUNK, ceil_div(N, CHUNK))
#pragma keet launch sum_partials<<<1, THREADS>>>(PARTIAL, TOTAL, ceil_div(N, CHUNK))

__global__ void sum_runs(const float *x, float *partial, int n, int chunk, int runs)
{
    int run = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (run < runs) {
        int begin = run * chunk;
        int end = min(begin + chunk, n);
        float sum = 0;
        for (int i = begin + lane; i < end; i += 32)
            sum += x[i];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (lane == 0)
            partial[run] = sum;
    }
}

__global__ void sum_partials(const float *partial, float *total, int runs)
{
    __shared__ float part[32];
    int lane2 = threadIdx.x;
    float sum = 0;
    for (int i = lane2; i < runs; i += blockDim.x)
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
    if (lane2 == 0)
        total[0] = sum;
}
