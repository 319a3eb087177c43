// Mean of the smooth L1 loss: the loss of each element, mean.
#pragma keet size   N = 1073741824
#pragma keet check  N = 300003
#pragma keet in     X : f32[N] = uniform(-2, 2)
#pragma keet in     T : f32[N] = uniform(0, 1)
#pragma keet out    L : f32[N]
#pragma keet out    P : f32[ceil_div(N, 131072)]
#pragma keet out    Y : f32[1]
#pragma keet tolerance rel = 1e-3
#pragma keet launch binary<Smooth><<<ceil_div(N, 1024), 128>>>(X, T, L, N)
#pragma keet launch partial_sums<Same><<<ceil_div(N, 131072), 512>>>(L, P, N)
#pragma keet launch total<Mean><<<1, 512>>>(P, Y, ceil_div(N, 131072), N)

#include "parts.cuh"

struct Smooth {
    static __device__ float of(float a, float b)
    {
        float d = fabsf(a - b);
        return d < 1.0f ? 0.5f * d * d : d - 0.5f;
    }
};
