// y = f(x) over a contiguous array.
#pragma keet size   N = 1610612736
#pragma keet check  N = 5002
#pragma keet in     X : f32[N] = uniform(-3, 3)
#pragma keet out    Y : f32[N]
#pragma keet launch unary<Op><<<ceil_div(N, 1024), 128>>>(X, Y, N)

#include "parts.cuh"

#ifndef OP
#define OP Relu
#endif

struct Relu { static __device__ float of(float x) { return fmaxf(x, 0.0f); } };
struct LeakyRelu { static __device__ float of(float x) { return x > 0.0f ? x : 0.01f * x; } };
struct Sigmoid { static __device__ float of(float x) { return 1.0f / (1.0f + expf(-x)); } };
struct Tanh { static __device__ float of(float x) { return tanhf(x); } };
struct Gelu { static __device__ float of(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); } };
struct Selu { static __device__ float of(float x) { return 1.0507010f * (x > 0.0f ? x : 1.6732632f * expm1f(x)); } };
struct HardSigmoid { static __device__ float of(float x) { return fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f); } };
struct Softplus { static __device__ float of(float x) { return x > 20.0f ? x : log1pf(expf(x)); } };
struct Elu { static __device__ float of(float x) { return x > 0.0f ? x : expm1f(x); } };
struct Hardtanh { static __device__ float of(float x) { return fminf(fmaxf(x, -1.0f), 1.0f); } };
struct Scale { static __device__ float of(float x) { return 3.14f * x; } };
typedef OP Op;
