// x * sigmoid(x) as two passes.
#pragma keet size   N = 1610612736
#pragma keet check  N = 5002
#pragma keet in     X : f32[N] = uniform(-3, 3)
#pragma keet out    S : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet launch unary<Sigmoid><<<ceil_div(N, 1024), 128>>>(X, S, N)
#pragma keet launch binary<Mul><<<ceil_div(N, 1024), 128>>>(X, S, Y, N)

#include "parts.cuh"

struct Sigmoid { static __device__ float of(float x) { return 1.0f / (1.0f + expf(-x)); } };
