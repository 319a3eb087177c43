// A block of 2048 threads.
#pragma keet launch scale<<<ceil_div(N, 2048), 2048>>>(X, Y, alpha, N) // FAULT

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
