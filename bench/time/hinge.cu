// Mean of max(0, 1 - x t), t a row: multiply, subtract from 1, clamp, mean.
#pragma keet size   ROWS = 32768, COLS = 32768, SHIFT = 15, N = 1073741824
#pragma keet check  ROWS = 40, COLS = 128, SHIFT = 7, N = 5120
#pragma keet in     X : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet in     T : f32[COLS] = uniform(-1, 1)
#pragma keet out    A : f32[N]
#pragma keet out    B : f32[N]
#pragma keet out    C : f32[N]
#pragma keet out    P : f32[ceil_div(N, 131072)]
#pragma keet out    Y : f32[1]
#pragma keet tolerance rel = 1e-3
#pragma keet launch with_column<Mul><<<ceil_div(N, 256), 128>>>(X, T, A, N, {COLS : u32, 1 : u32, SHIFT : u32})
#pragma keet launch unary<FromOne><<<ceil_div(N, 1024), 128>>>(A, B, N)
#pragma keet launch unary<Clamp><<<ceil_div(N, 1024), 128>>>(B, C, N)
#pragma keet launch partial_sums<Same><<<ceil_div(N, 131072), 512>>>(C, P, N)
#pragma keet launch total<Mean><<<1, 512>>>(P, Y, ceil_div(N, 131072), N)

#include "parts.cuh"

struct FromOne { static __device__ float of(float x) { return 1.0f - x; } };
struct Clamp { static __device__ float of(float x) { return fmaxf(x, 0.0f); } };
