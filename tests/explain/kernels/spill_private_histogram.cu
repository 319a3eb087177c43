// A histogram per thread, indexed by the data: the array cannot live in registers.
#pragma keet size   N = 131072
#pragma keet check  N = 1024
#pragma keet in     X : i32[N*32] = integers(0, 1000000)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 32*N, bytes = 132*N
#pragma keet launch count<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void count(const int *__restrict__ X, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int bins[32] = {0};
    for (int k = 0; k < 32; k++) {
        int x = X[k * n + i];
        bins[x & 31]++;
        bins[(x >> 5) & 31]++;
        bins[(x >> 10) & 31]++;
    }
    int best = 0;
    for (int k = 0; k < 32; k++)
        best = max(best, bins[k]);
    Y[i] = best;
}
