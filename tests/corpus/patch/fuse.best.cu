__global__ void scale_shift(float *z, const float *x, float a, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    for (int k = i; k < i + 2 && k < n; k++)
        z[k] = a * x[k] + 1.0f;
}

#pragma keet size   n = 100000
#pragma keet in     x : f32[n]
#pragma keet out    z : f32[n]
#pragma keet scalar a : f32 = 2.0
#pragma keet launch scale_shift<<<ceil_div(n, 512), 256>>>(z, x, a, n)
