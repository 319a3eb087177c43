// Copy and scale in vectors of four.
#pragma keet size   N = 8388608
#pragma keet in     X : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet launch copy4<<<264, 256>>>(X, Y, N/4)

__global__ void copy4(const float4 *X, float4 *Y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = X[i];
        Y[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    }
}
