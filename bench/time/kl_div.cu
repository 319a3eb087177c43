// Sum of t log t - t log x over the rows' number: log, t log t, multiply, subtract, sum, divide.
#pragma keet size   N = 268435456, ROWS = 16384
#pragma keet check  N = 300003, ROWS = 3
#pragma keet in     X : f32[N] = uniform(0.1, 1)
#pragma keet in     T : f32[N] = uniform(0.1, 1)
#pragma keet out    L : f32[N]
#pragma keet out    A : f32[N]
#pragma keet out    B : f32[N]
#pragma keet out    C : f32[N]
#pragma keet out    P : f32[ceil_div(N, 131072)]
#pragma keet out    S : f32[1]
#pragma keet out    Y : f32[1]
#pragma keet tolerance rel = 1e-2
#pragma keet launch unary<Log><<<ceil_div(N, 1024), 128>>>(X, L, N)
#pragma keet launch binary<TimesLog><<<ceil_div(N, 1024), 128>>>(T, T, A, N)
#pragma keet launch binary<Mul><<<ceil_div(N, 1024), 128>>>(T, L, B, N)
#pragma keet launch binary<Sub><<<ceil_div(N, 1024), 128>>>(A, B, C, N)
#pragma keet launch partial_sums<Same><<<ceil_div(N, 131072), 512>>>(C, P, N)
#pragma keet launch total<Sum><<<1, 512>>>(P, S, ceil_div(N, 131072), N)
#pragma keet launch by_rows<<<1, 128>>>(S, Y, ROWS)

#include "parts.cuh"

struct Log { static __device__ float of(float x) { return logf(x); } };
struct TimesLog {
    static __device__ float of(float a, float b) { return b != b ? b : a == 0.0f ? 0.0f : a * logf(b); }
};

__global__ void by_rows(const float *x, float *y, int rows)
{
    if (threadIdx.x == 0)
        y[0] = x[0] / (float)rows;
}
