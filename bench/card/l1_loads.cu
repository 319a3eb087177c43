// Loads of 4 bytes that L1 has. LANES: which word a lane takes of 4096: 0 the same one, lane neighbours, lane*32 each a line.
#pragma keet size   G = 264
#pragma keet check  G = 2
#pragma keet in     X : i32[4096]
#pragma keet out    OUT : i32[G]
#pragma keet launch loads<<<G, 512>>>(X, OUT)

#ifndef LANES
#define LANES lane
#endif

__global__ void loads(const int *x, int *out)
{
    unsigned lane = threadIdx.x % 32;
    const int *at = x + (LANES);
    int sum = 0, v;
#pragma unroll 1
    for (int k = 0; k < 256; k++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            asm volatile("ld.global.b32 %0, [%1];" : "=r"(v) : "l"(at + 64 * (j + k % 16)));
            sum += v;
        }
    }
    if (sum == 0x7fffffff)
        out[1] = 1;
    if (threadIdx.x == 0)
        out[blockIdx.x] = 1;
}
