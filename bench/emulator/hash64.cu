// 64-bit integer mixing, multiplications and shifts.
#pragma keet size   N = 1048576
#pragma keet out    Y : u64[N]
#pragma keet launch hash<<<N/256, 256>>>(Y)

__global__ void hash(unsigned long long *Y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long h = i * 0x9e3779b97f4a7c15ull;
    for (int k = 0; k < 8; k++) {
        h ^= h >> 33;
        h *= 0xff51afd7ed558ccdull;
        h ^= h << 13;
    }
    Y[i] = h;
}
