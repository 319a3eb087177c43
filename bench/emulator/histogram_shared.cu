// Histogram of bytes with atomics on shared memory, then one global atomic per bin and block.
#pragma keet size   N = 2097152
#pragma keet in     X : u8[N] = integers(0, 255)
#pragma keet inout  Y : i32[256] = constant(0)
#pragma keet launch histogram<<<64, 256>>>(X, Y, N/4)

__global__ void histogram(const uchar4 *X, int *Y, int n)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uchar4 v = X[i];
        atomicAdd(&bins[v.x], 1);
        atomicAdd(&bins[v.y], 1);
        atomicAdd(&bins[v.z], 1);
        atomicAdd(&bins[v.w], 1);
    }
    __syncthreads();
    atomicAdd(&Y[threadIdx.x], bins[threadIdx.x]);
}
