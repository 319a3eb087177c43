// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) as eight passes.
#pragma keet size   N = 67108864
#pragma keet check  N = 5002
#pragma keet in     X : f32[N] = uniform(-3, 3)
#pragma keet out    A : f32[N]
#pragma keet out    B : f32[N]
#pragma keet out    C : f32[N]
#pragma keet out    D : f32[N]
#pragma keet out    E : f32[N]
#pragma keet out    F : f32[N]
#pragma keet out    H : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet launch unary<Half><<<ceil_div(N, 1024), 128>>>(X, H, N)
#pragma keet launch unary<Cube><<<ceil_div(N, 1024), 128>>>(X, A, N)
#pragma keet launch unary<Small><<<ceil_div(N, 1024), 128>>>(A, B, N)
#pragma keet launch binary<Add><<<ceil_div(N, 1024), 128>>>(X, B, C, N)
#pragma keet launch unary<Scaled><<<ceil_div(N, 1024), 128>>>(C, D, N)
#pragma keet launch unary<Tanh><<<ceil_div(N, 1024), 128>>>(D, E, N)
#pragma keet launch unary<AddOne><<<ceil_div(N, 1024), 128>>>(E, F, N)
#pragma keet launch binary<Mul><<<ceil_div(N, 1024), 128>>>(H, F, Y, N)

#include "parts.cuh"

struct Half { static __device__ float of(float x) { return 0.5f * x; } };
struct Cube { static __device__ float of(float x) { return x * x * x; } };
struct Small { static __device__ float of(float x) { return 0.044715f * x; } };
struct Scaled { static __device__ float of(float x) { return 0.79788456f * x; } };
struct Tanh { static __device__ float of(float x) { return tanhf(x); } };
struct AddOne { static __device__ float of(float x) { return 1.0f + x; } };
