// Reaction rates of two species that lie beside each other in memory.
#pragma keet size   N = 1081344
#pragma keet check  N = 1024
#pragma keet in     T : f32[N] = uniform(0, 1)
#pragma keet out    R : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch rates<<<N/256, 256>>>(T, R)

__global__ void rates(const float *__restrict__ T, float *__restrict__ R)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float t = T[i], r = 1;
    float a = i & 1 ? 0.31f : 0.72f, b = i & 1 ? 0.11f : 0.05f;
#pragma unroll 16
    for (int k = 0; k < 192; k++)
        r = fmaf(r, a * t, b);
    R[i] = r;
}
