// 300,000 bytes of shared memory.
#pragma keet launch scale<<<ceil_div(N, 128), 128, 300000>>>(X, Y, alpha, N) // FAULT

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    extern __shared__ float tile[];
    tile[threadIdx.x] = i < n ? x[i] : 0;
    if (i < n)
        y[i] = alpha * tile[threadIdx.x];
}
