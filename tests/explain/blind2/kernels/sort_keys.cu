// Blocks of 1024 keys, sorted by their low eight bits, one bit after the other.
#pragma keet size   N = 1056
#pragma keet check  N = 4
#pragma keet in     X : u32[N][1024] = integers(0, 255)
#pragma keet out    Y : u32[N][1024]
#pragma keet launch sort<<<N, 1024>>>(X, Y)

__global__ void sort(const unsigned *__restrict__ X, unsigned *__restrict__ Y)
{
    __shared__ unsigned keys[1024];
    __shared__ int zeros[1024];
    int t = threadIdx.x;
    unsigned key = X[blockIdx.x * 1024 + t];
    for (int bit = 0; bit < 8; bit++) {
        int zero = ~key >> bit & 1;
        zeros[t] = zero;
        __syncthreads();
        for (int d = 1; d < 1024; d *= 2) {
            int other = t >= d ? zeros[t - d] : 0;
            __syncthreads();
            zeros[t] += other;
            __syncthreads();
        }
        int before = zeros[t], all = zeros[1023];
        keys[zero ? before - 1 : all + t - before] = key;
        __syncthreads();
        key = keys[t];
    }
    Y[blockIdx.x * 1024 + t] = key;
}
