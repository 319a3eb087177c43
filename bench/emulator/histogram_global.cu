// Histogram of bytes with atomics on global memory.
#pragma keet size   N = 1048576
#pragma keet in     X : u8[N] = integers(0, 255)
#pragma keet inout  Y : i32[256] = constant(0)
#pragma keet launch histogram<<<64, 256>>>(X, Y, N)

__global__ void histogram(const unsigned char *X, int *Y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&Y[X[i]], 1);
}
