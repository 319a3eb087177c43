// Counts of a sensor to pressure, the fixed point of a polynomial whose coefficients are literals.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     U : f32[N] = uniform(0, 1)
#pragma keet out    P : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch calibrate<<<N/256, 256>>>(U, P)

typedef double real;
__device__ real curve(real x)
{
    real y = (real)0.0123;
#pragma unroll
    for (int k = 0; k < 12; k++)
        y = y * x + (real)(0.31 - 0.02 * k);
    return y;
}
__global__ void calibrate(const float *__restrict__ U, float *__restrict__ P)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    real u = U[i];
#pragma unroll 4
    for (int k = 0; k < 24; k++)
        u = (real)0.9 * curve(u);
    P[i] = (float)u;
}
