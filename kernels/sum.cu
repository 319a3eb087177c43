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
#pragma keet tune   CHUNK = 1024 in {256, 512, 1024, 2048, 4096}
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet temp   PARTIAL : f32[ceil_div(N, CHUNK)]
#pragma keet launch sum_runs<<<ceil_div(ceil_div(N, CHUNK), BLOCK), BLOCK>>>(X, PARTIAL, N, CHUNK, ceil_div(N, CHUNK))
#pragma keet launch sum_partials<<<1, 1>>>(PARTIAL, TOTAL, ceil_div(N, CHUNK))

__global__ void sum_runs(const float *x, float *partial, int n, int chunk, int runs)
{
    int run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run < runs) {
        int begin = run * chunk;
        int end = min(begin + chunk, n);
        float sum = 0;
        for (int i = begin; i < end; i++)
            sum += x[i];
        partial[run] = sum;
    }
}

__global__ void sum_partials(const float *partial, float *total, int runs)
{
    float sum = 0;
    for (int i = 0; i < runs; i++)
        sum += partial[i];
    total[0] = sum;
}
