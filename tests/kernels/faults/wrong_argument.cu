// An array where the kernel wants a number.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, Y) // FAULT

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
