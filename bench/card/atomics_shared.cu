// Sixteen additions a thread to A numbers in shared memory, lanes anywhere (A of 1: all on one).
#pragma keet size   G = 1056, A = 256
#pragma keet check  G = 2, A = 256
#pragma keet out    OUT : i32[G]
#pragma keet launch atomics<<<G, 256>>>(OUT, A - 1)

__global__ void atomics(int *out, unsigned mask)
{
    __shared__ int bins[4096];
    for (int k = threadIdx.x; k < 4096; k += 256)
        bins[k] = 0;
    __syncthreads();
    unsigned hash = (blockIdx.x * 256 + threadIdx.x) * 2654435761u;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        hash = (hash ^ hash >> 15) * 2246822519u + k;
        atomicAdd(&bins[hash >> 8 & mask], 1 + (int)(hash == 77));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = bins[0];
}
