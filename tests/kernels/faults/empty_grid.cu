// Rounds the grid down: nothing is launched for small sizes.
#pragma keet launch scale<<<N / 1024, 1024>>>(X, Y, alpha, N) // FAULT

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
