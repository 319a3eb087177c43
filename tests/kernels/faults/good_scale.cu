// Right: two elements per thread, after all the wrong ones.
#pragma keet launch scale<<<ceil_div(N, 256), 128>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (i *= 2; i < n && i < 2 * (int)(blockIdx.x * blockDim.x + threadIdx.x) + 2; i++)
        y[i] = alpha * x[i];
}
