// Blocks of 1024 keys, sorted by their low eight bits, one bit after the other.
#pragma keet size   N = 1056
#pragma keet check  N = 4
#pragma keet in     X : u32[N][1024] = integers(0, 255)
#pragma keet out    Y : u32[N][1024]
#pragma keet launch sort<<<N, 1024>>>(X, Y)

__global__ void sort(const unsigned *__restrict__ X, unsigned *__restrict__ Y)
{
    __shared__ unsigned keys[1024];
    __shared__ int part[32];
    int t = threadIdx.x;
    unsigned key = X[blockIdx.x * 1024 + t];
    for (int bit = 0; bit < 8; bit++) {
        int zero = ~key >> bit & 1;
        unsigned mask = __ballot_sync(~0u, zero);
        if (t % 32 == 0)
            part[t / 32] = __popc(mask);
        __syncthreads();
        int before = __popc(mask & ((2u << t % 32) - 1)), all = part[t % 32], mine = t % 32 < t / 32 ? all : 0;
        before += __reduce_add_sync(~0u, mine);
        all = __reduce_add_sync(~0u, all);
        keys[zero ? before - 1 : all + t - before] = key;
        __syncthreads();
        key = keys[t];
    }
    Y[blockIdx.x * 1024 + t] = key;
}
