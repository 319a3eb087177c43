// y = a x + y in a grid-stride loop.
#pragma keet size   N = 4194304
#pragma keet in     X : f32[N]
#pragma keet inout  Y : f32[N]
#pragma keet scalar a : f32 = 1.5
#pragma keet launch saxpy<<<264, 256>>>(a, X, Y, N)

__global__ void saxpy(float a, const float *X, float *Y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        Y[i] = a * X[i] + Y[i];
}
