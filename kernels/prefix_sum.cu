// Inclusive prefix sum of an i32 vector in three launches: each thread scans a run of CHUNK elements,
// one thread scans the runs' totals, then every element gets what came before its run.
#pragma keet size   N = 4194304
#pragma keet check  N = 10007
#pragma keet check  N = 4096
#pragma keet check  N = 3
#pragma keet in     X : i32[N] = integers(-5, 9)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = N, bytes = 8*N
#pragma keet tune   CHUNK = 1024 in {256, 512, 1024, 2048, 4096}
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet temp   TOTALS : i32[ceil_div(N, CHUNK)]
#pragma keet launch scan_runs<<<ceil_div(ceil_div(N, CHUNK), BLOCK), BLOCK>>>(X, Y, TOTALS, N, CHUNK)
#pragma keet launch scan_totals<<<1, 1>>>(TOTALS, ceil_div(N, CHUNK))
#pragma keet launch add_before<<<ceil_div(N, BLOCK), BLOCK>>>(Y, TOTALS, N, CHUNK)

__global__ void scan_runs(const int *x, int *y, int *totals, int n, int chunk)
{
    int run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run * chunk < n) {
        int sum = 0;
        for (int i = run * chunk; i < min((run + 1) * chunk, n); i++) {
            sum += x[i];
            y[i] = sum;
        }
        totals[run] = sum;
    }
}

__global__ void scan_totals(int *totals, int runs)
{
    int sum = 0;
    for (int i = 0; i < runs; i++) {
        int here = totals[i];
        totals[i] = sum;
        sum += here;
    }
}

__global__ void add_before(int *y, const int *totals, int n, int chunk)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += totals[i / chunk];
}
