// Fences for tensor core operations that nothing here needs.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("wgmma.fence.sync.aligned;"); // FAULT
    if (i < n)
        y[i] = alpha * x[i];
}
