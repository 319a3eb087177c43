// Mean of max(0, 1 + |a - p| - |a - n|) over rows: twice subtract, add eps, norm of rows; then add, subtract, clamp, mean.
#pragma keet size   ROWS = 32768, COLS = 8192
#pragma keet check  ROWS = 40, COLS = 512
#pragma keet in     A : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet in     B : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet in     C : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet out    AB : f32[ROWS][COLS]
#pragma keet out    ABE : f32[ROWS][COLS]
#pragma keet out    DB : f32[ROWS]
#pragma keet out    AC : f32[ROWS][COLS]
#pragma keet out    ACE : f32[ROWS][COLS]
#pragma keet out    DC : f32[ROWS]
#pragma keet out    M : f32[ROWS]
#pragma keet out    S : f32[ROWS]
#pragma keet out    L : f32[ROWS]
#pragma keet out    Y : f32[1]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch binary<Sub><<<ceil_div(ROWS*COLS, 1024), 128>>>(A, B, AB, ROWS*COLS)
#pragma keet launch unary<AddEps><<<ceil_div(ROWS*COLS, 1024), 128>>>(AB, ABE, ROWS*COLS)
#pragma keet launch row_sums<Square, Root><<<ROWS, dim3(32, 16)>>>(ABE, DB, COLS)
#pragma keet launch binary<Sub><<<ceil_div(ROWS*COLS, 1024), 128>>>(A, C, AC, ROWS*COLS)
#pragma keet launch unary<AddEps><<<ceil_div(ROWS*COLS, 1024), 128>>>(AC, ACE, ROWS*COLS)
#pragma keet launch row_sums<Square, Root><<<ROWS, dim3(32, 16)>>>(ACE, DC, COLS)
#pragma keet launch unary<AddOne><<<ceil_div(ROWS, 1024), 128>>>(DB, M, ROWS)
#pragma keet launch binary<Sub><<<ceil_div(ROWS, 1024), 128>>>(M, DC, S, ROWS)
#pragma keet launch unary<Clamp><<<ceil_div(ROWS, 1024), 128>>>(S, L, ROWS)
#pragma keet launch total<Mean><<<1, 512>>>(L, Y, ROWS, ROWS)

#include "parts.cuh"

struct AddEps { static __device__ float of(float x) { return x + 1e-6f; } };
struct AddOne { static __device__ float of(float x) { return 1.0f + x; } };
struct Clamp { static __device__ float of(float x) { return fmaxf(x, 0.0f); } };
