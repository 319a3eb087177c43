// A launch by cudaLaunchKernelEx, whose attributes say a cluster.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2.0f * x[i];
}
int main()
{
    const int n = 1 << 16, group = 2;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaLaunchConfig_t config = {0};
    cudaLaunchAttribute attrs[1];
    attrs[0].id = cudaLaunchAttributeClusterDimension;
    attrs[0].val.clusterDim.x = group;
    attrs[0].val.clusterDim.y = 1;
    attrs[0].val.clusterDim.z = 1;
    config.gridDim = dim3(n / 256);
    config.blockDim = dim3(256);
    config.attrs = attrs;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, scale, (const float *)x, y, n);
    cudaDeviceSynchronize();
}
