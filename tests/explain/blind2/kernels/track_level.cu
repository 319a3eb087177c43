// The level of a tank, followed by a filter over 48 readings.
#pragma keet size   N = 262144
#pragma keet check  N = 1024
#pragma keet in     Z : f16[48][N] = uniform(0, 1)
#pragma keet out    L : f32[N]
#pragma keet out    G : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch track<<<N/256, 256>>>(Z, L, G, N)

#include <cuda_fp16.h>
__global__ void track(const half *Z, float *L, float *G, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float level = 0.5f, gain = 1;
#pragma unroll 8
    for (int k = 0; k < 48; k++) {
        gain = (gain + 0.01f) * 0.9f;
        level += gain * (__half2float(Z[k * n + i]) - level);
        L[i] = level;
        G[i] = gain;
    }
}
