// The sum over a block of 512 threads, by halves in shared memory; in thread 0.
#ifndef LAST_WARP
#define LAST_WARP 1
#endif

__device__ int block_total(int mine)
{
    __shared__ int part[512];
    unsigned t = threadIdx.x;
    part[t] = mine;
    __syncthreads();
    for (unsigned half = 256; half > (LAST_WARP ? 32 : 0); half >>= 1) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (LAST_WARP) {
#pragma unroll
        for (unsigned half = 32; half > 0; half >>= 1) {
            if (t < half)
                ((volatile int *)part)[t] += part[t + half];
            __syncwarp();
        }
    }
    return part[0];
}
