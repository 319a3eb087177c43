// x / mean of |x| over rows of odd length, as three passes.
#pragma keet size   ROWS = 32768, COLS = 65535, MAGIC = 65538, SHIFT = 16
#pragma keet check  ROWS = 9, COLS = 1023, MAGIC = 4198405, SHIFT = 10
#pragma keet in     X : f32[ROWS][COLS] = uniform(-1, 1)
#pragma keet out    A : f32[ROWS][COLS]
#pragma keet out    MEAN : f32[ROWS]
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-4
#pragma keet launch unary<Abs><<<ceil_div(ROWS*COLS, 1024), 128>>>(X, A, ROWS*COLS)
#pragma keet launch row_sums<Same, Mean><<<ROWS, dim3(32, 16)>>>(A, MEAN, COLS)
#pragma keet launch with_row<Div><<<ceil_div(ROWS*COLS, 256), 128>>>(X, MEAN, Y, ROWS*COLS, {COLS : u32, MAGIC : u32, SHIFT : u32})

#include "parts.cuh"
