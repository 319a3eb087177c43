// Additions of a million threads to A numbers in global memory. HOW: SAME, a warp to one number; SPREAD, lanes to
// neighbours; RANDOM, lanes anywhere; RANDOM_USED, the old value is used.
#pragma keet size   N = 1048576, A = 256
#pragma keet check  N = 4096, A = 256
#pragma keet inout  BINS : i32[A] = constant(0)
#pragma keet inout  SINK : i32[1] = constant(0)
#pragma keet launch atomics<<<N/256, 256>>>(BINS, SINK, A - 1)

#ifndef HOW
#define HOW RANDOM
#endif
enum { SAME, SPREAD, RANDOM, RANDOM_USED };

__global__ void atomics(int *bins, int *sink, unsigned mask)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x, hash = i * 2654435761u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    hash ^= hash >> 13;
    unsigned to = HOW == SAME ? i / 32 : HOW == SPREAD ? i : hash;
    if (HOW == RANDOM_USED) {
        if (atomicAdd(&bins[to & mask], 1) == 0x7fffffff)
            sink[0] = 1;
    } else if (HOW == SAME) { /* of each lane, so that ptxas cannot make one addition of a warp's */
        asm volatile("red.global.add.s32 [%0], %1;" ::"l"(&bins[to & mask]), "r"(1 + (int)(hash == 77)) : "memory");
    } else {
        atomicAdd(&bins[to & mask], 1);
    }
}
