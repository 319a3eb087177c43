// Cumulative sum from the end: flip, scan, flip.
#pragma keet size   ROWS = 32768, COLS = 32768, SHIFT = 15
#pragma keet check  ROWS = 40, COLS = 128, SHIFT = 7
#pragma keet in     X : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet out    F : f32[ROWS][COLS]
#pragma keet out    S : f32[ROWS][COLS]
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch flip<<<ceil_div(ROWS*COLS, 512), 128>>>(X, F, ROWS*COLS, {COLS : u32, 1 : u32, SHIFT : u32})
#pragma keet launch scan<<<ceil_div(ROWS, 32), dim3(16, 32), 4096>>>(F, S, ROWS, COLS, 4)
#pragma keet launch flip<<<ceil_div(ROWS*COLS, 512), 128>>>(S, Y, ROWS*COLS, {COLS : u32, 1 : u32, SHIFT : u32})

#include "parts.cuh"
#include "scan.cuh"

__global__ void flip(const float *x, float *y, unsigned n, Divisor cols)
{
    unsigned first = blockIdx.x * 512 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = first + k * 128;
        if (i < n) {
            unsigned row = quotient(i, cols.magic, cols.shift), col = i - row * cols.d;
            y[i] = x[row * cols.d + (cols.d - 1 - col)];
        }
    }
}
