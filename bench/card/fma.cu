// Multiply-adds of floats in registers: the clock that the chip holds under arithmetic.
#pragma keet size   G = 264
#pragma keet check  G = 2
#pragma keet out    OUT : f32[G]
#pragma keet scalar by : f32 = 1.0
#pragma keet launch multiply_add<<<G, 1024>>>(OUT, by)

__global__ void multiply_add(float *out, float by)
{
    float a[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        a[k] = threadIdx.x + k;
#pragma unroll 1
    for (int i = 0; i < 2048; i++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            a[k] = a[k] * by + by;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += a[k];
    if (sum == 7.25f)
        out[1] = 1;
    if (threadIdx.x == 0)
        out[blockIdx.x] = 1;
}
