// x / sqrt(sum of x^2) over all elements.
#pragma keet size   N = 1879048192
#pragma keet check  N = 300003
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    P : f32[ceil_div(N, 131072)]
#pragma keet out    NORM : f32[1]
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-4
#pragma keet launch partial_sums<Square><<<ceil_div(N, 131072), 512>>>(X, P, N)
#pragma keet launch total<Root><<<1, 512>>>(P, NORM, ceil_div(N, 131072), N)
#pragma keet launch with_one<Div><<<ceil_div(N, 256), 128>>>(X, NORM, Y, N)

#include "parts.cuh"
