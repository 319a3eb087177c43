// Decoupled look-back over block sums.
#pragma keet size   N = 262144
#pragma keet check  N = 4096
#pragma keet in     X : i32[N] = integers(-4, 4)
#pragma keet out    Y : i32[N]
#pragma keet temp   STATE : u64[N / 256 + 1]
#pragma keet temp   TICKET : u32[1]
#pragma keet launch clear<<<N / 256 / 256 + 1, 256>>>(STATE, TICKET, N / 256)
#pragma keet launch scan<<<N / 256, 256>>>(X, Y, STATE, TICKET)

__global__ void clear(unsigned long long *STATE, unsigned *TICKET, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        STATE[i] = 0;
    if (i == 0)
        *TICKET = 0;
}

__global__ void scan(const int *X, int *Y, volatile unsigned long long *STATE, unsigned *TICKET)
{
    __shared__ int part[256];
    __shared__ int before, tile_s;
    int t = threadIdx.x;
    if (t == 0)
        tile_s = atomicAdd(TICKET, 1);
    __syncthreads();
    int tile = tile_s;
    part[t] = X[tile * 256 + t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int v = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        unsigned sum = (unsigned)part[255];
        STATE[tile] = (tile == 0 ? 2ull : 1ull) << 32 | sum;
        __threadfence();
        unsigned run = 0;
        for (int p = tile - 1; p >= 0; p--) {
            unsigned long long s;
            do
                s = STATE[p];
            while (s >> 32 == 0);
            run += (unsigned)s;
            if (s >> 32 == 2)
                break;
        }
        __threadfence();
        if (tile > 0)
            STATE[tile] = 2ull << 32 | (run + sum);
        before = (int)run;
    }
    __syncthreads();
    Y[tile * 256 + t] = part[t] + before;
}
