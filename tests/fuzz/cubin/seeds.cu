// What the seeds of fuzz_cubin are compiled from, by ptxas of CUDA 13.0:
//     nvcc -arch=sm_90a -lineinfo -cubin seeds.cu -o inlined.cubin     and without -lineinfo: plain.cubin
//     nvcc -arch=sm_80 -lineinfo -cubin seeds.cu -o ampere.cubin
__device__ __forceinline__ float twice(float x)
{
    float y = __expf(x);
    return y + x;
}

__global__ void inlined(float *a)
{
    a[threadIdx.x] = twice(a[threadIdx.x]) +
        twice(a[5]);
}

__global__ void __launch_bounds__(96) shared(const float *x, float *y)
{
    __shared__ float tile[100];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[95 - threadIdx.x];
}
