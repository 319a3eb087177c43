// Cumulative sum of x times a mask of bytes: multiply, scan.
#pragma keet size   ROWS = 32768, COLS = 32768
#pragma keet check  ROWS = 40, COLS = 128
#pragma keet in     X : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet in     MASK : bool[ROWS][COLS]
#pragma keet out    P : f32[ROWS][COLS]
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch masked<<<ceil_div(ROWS*COLS, 512), 128>>>(X, MASK, P, ROWS*COLS)
#pragma keet launch scan<<<ceil_div(ROWS, 32), dim3(16, 32), 4096>>>(P, Y, ROWS, COLS, 4)

#include "scan.cuh"

__global__ void masked(const float *x, const bool *mask, float *y, unsigned n)
{
    unsigned first = blockIdx.x * 512 + threadIdx.x;
    float v[4], m[4];
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = first + k * 128;
        if (i < n) {
            v[k] = x[i];
            m[k] = mask[i];
        }
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = first + k * 128;
        if (i < n)
            y[i] = v[k] * m[k];
    }
}
