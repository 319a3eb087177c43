// GELU, one element per thread.
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch each<<<ceil_div(batch_size*dim, BLOCK), BLOCK>>>(x, y, batch_size*dim)

__global__ void each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
}
