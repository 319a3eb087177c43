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
#pragma keet tune   THREADS = 512 in {128, 256, 512, 1024}
#pragma keet launch scan_runs<<<ceil_div(ceil_div(N, CHUNK), BLOCK)*BLOCK, BLOCK>>>(X, Y, TOTALS, N, CHUNK)
#pragma keet launch scan_totals<<<1, THREADS>>>(TOTALS, ceil_div(N, CHUNK))
#pragma keet launch add_before<<<ceil_div(ceil_div(N, BLOCK), 4), BLOCK>>>(Y, TOTALS, N, CHUNK)

__global__ void scan_runs(const int *x, int *y, int *totals, int n, int chunk)
{
    __shared__ int part_int[32];
    int run = blockIdx.x;
    int lane = threadIdx.x;
    if (run * chunk < n) {
        int sum = 0;
        for (int first = run * chunk; first < min((run + 1) * chunk, n); first += blockDim.x) {
            int i = first + lane;
            bool inside = i < min((run + 1) * chunk, n);
            int own = inside ? x[i] : 0;
            int running = own;
            for (int offset = 1; offset < 32; offset *= 2) {
                int other = __shfl_up_sync(0xffffffff, running, offset);
                if (threadIdx.x % 32 >= offset)
                    running += other;
            }
            if (threadIdx.x % 32 == 31)
                part_int[threadIdx.x / 32] = running;
            __syncthreads();
            int added = 0;
            for (int warp = 0; warp < blockDim.x / 32; warp++) {
                if (warp < threadIdx.x / 32)
                    running += part_int[warp];
                added += part_int[warp];
            }
            __syncthreads();
            if (inside) {
                y[i] = (sum + running);
            }
            sum += added;
        }
        if (lane == 0)
            totals[run] = sum;
    }
}

__global__ void scan_totals(int *totals, int runs)
{
    __shared__ int part_int[32];
    int lane2 = threadIdx.x;
    int sum = 0;
    for (int first2 = 0; first2 < runs; first2 += blockDim.x) {
        int i = first2 + lane2;
        bool inside2 = i < runs;
        int own = inside2 ? (totals[i]) : 0;
        int running2 = own;
        for (int offset = 1; offset < 32; offset *= 2) {
            int other = __shfl_up_sync(0xffffffff, running2, offset);
            if (threadIdx.x % 32 >= offset)
                running2 += other;
        }
        if (threadIdx.x % 32 == 31)
            part_int[threadIdx.x / 32] = running2;
        __syncthreads();
        int added2 = 0;
        for (int warp = 0; warp < blockDim.x / 32; warp++) {
            if (warp < threadIdx.x / 32)
                running2 += part_int[warp];
            added2 += part_int[warp];
        }
        __syncthreads();
        if (inside2) {
            int here = totals[i];
            totals[i] = (sum + running2 - own);
        }
        sum += added2;
    }
}

__global__ void add_before(int *y, const int *totals, int n, int chunk)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        int4 y4 = *reinterpret_cast<const int4 *>(&y[i]);
        {
            y4.x += totals[i / chunk];
        }
        {
            y4.y += totals[(i + 1) / chunk];
        }
        {
            y4.z += totals[(i + 2) / chunk];
        }
        {
            y4.w += totals[(i + 3) / chunk];
        }
        *reinterpret_cast<int4 *>(&y[i]) = y4;
    } else {
        for (; i < n; i++) {
            y[i] += totals[i / chunk];
        }
    }
}
