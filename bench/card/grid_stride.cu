// A few threads read much, one load of 4 bytes under way each: DRAM by latency. GRID blocks of 256.
#pragma keet size   N = 16777216, GRID = 132
#pragma keet check  N = 65536, GRID = 4
#pragma keet in     X : i32[N]
#pragma keet out    OUT : i32[GRID]
#pragma keet launch sum<<<GRID, 256>>>(X, OUT, N)

__global__ void sum(const int *x, int *out, int n)
{
    int sum = 0;
#pragma unroll 1
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += x[i];
    if (sum == 0x7fffffff)
        out[1] = 1;
    if (threadIdx.x == 0)
        out[blockIdx.x] = 1;
}
