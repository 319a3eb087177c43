// x / (1 + |x|) as three passes.
#pragma keet size   N = 1610612736
#pragma keet check  N = 5002
#pragma keet in     X : f32[N] = uniform(-3, 3)
#pragma keet out    A : f32[N]
#pragma keet out    B : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet launch unary<Abs><<<ceil_div(N, 1024), 128>>>(X, A, N)
#pragma keet launch unary<AddOne><<<ceil_div(N, 1024), 128>>>(A, B, N)
#pragma keet launch binary<Div><<<ceil_div(N, 1024), 128>>>(X, B, Y, N)

#include "parts.cuh"

struct AddOne { static __device__ float of(float x) { return 1.0f + x; } };
