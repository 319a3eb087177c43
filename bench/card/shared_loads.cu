// Loads from shared memory alone, WORDS words each. LANES: which word a lane takes, of numbers 0..31: 0 all the same one,
// lane neighbours, lane*2, lane*8, lane*32 on one bank.
#pragma keet size   G = 264
#pragma keet check  G = 2
#pragma keet out    OUT : i32[G]
#pragma keet launch loads<<<G, 512>>>(OUT)

#ifndef WORDS
#define WORDS 1
#endif
#ifndef LANES
#define LANES lane
#endif

__global__ void loads(int *out)
{
    __shared__ __align__(16) int a[4608];
    unsigned lane = threadIdx.x % 32, at = (unsigned)__cvta_generic_to_shared(a) + 4 * WORDS * (LANES);
    int sum = 0, x, y, z, w;
    for (int k = threadIdx.x; k < 4608; k += 512)
        a[k] = k;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 256; k++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#if WORDS == 1
            asm volatile("ld.volatile.shared.b32 %0, [%1];" : "=r"(x) : "r"(at + 128 * (j % 4)));
            sum += x;
#elif WORDS == 2
            asm volatile("ld.volatile.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at + 128 * (j % 4)));
            sum += x + y;
#else
            asm volatile("ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at + 128 * (j % 4)));
            sum += x + y + z + w;
#endif
        }
    }
    if (sum == 0x7fffffff)
        out[1] = 1;
    if (threadIdx.x == 0)
        out[blockIdx.x] = 1;
}
