// Cumulative sum or product of each row.
#pragma keet size   ROWS = 32768, COLS = 32768
#pragma keet check  ROWS = 40, COLS = 100
#pragma keet in     X : f32[ROWS][COLS] = uniform(0.5, 1.5)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch scan<<<ceil_div(ROWS, 32), dim3(16, 32), 4096>>>(X, Y, ROWS, COLS, 4)

#include "scan.cuh"
