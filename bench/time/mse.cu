// Mean of (x - t)^2: subtract, square, mean.
#pragma keet size   N = 1073741824
#pragma keet check  N = 300003
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet in     T : f32[N] = uniform(0, 1)
#pragma keet out    D : f32[N]
#pragma keet out    Q : f32[N]
#pragma keet out    P : f32[ceil_div(N, 131072)]
#pragma keet out    Y : f32[1]
#pragma keet tolerance rel = 1e-3
#pragma keet launch binary<Sub><<<ceil_div(N, 1024), 128>>>(X, T, D, N)
#pragma keet launch unary<Square><<<ceil_div(N, 1024), 128>>>(D, Q, N)
#pragma keet launch partial_sums<Same><<<ceil_div(N, 131072), 512>>>(Q, P, N)
#pragma keet launch total<Mean><<<1, 512>>>(P, Y, ceil_div(N, 131072), N)

#include "parts.cuh"
