#pragma once

#define DEVICE_INLINE __device__ __forceinline__
#define BOTH __host__ __device__

BOTH
int blocks_for(int n, int each) { return (n + each - 1) / each; }

template <typename T, const int width = LANES>
DEVICE_INLINE T lane_sum(T value)
{
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step, width);
    return value;
}
