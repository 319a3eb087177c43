// Waits for a value that never comes.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (*(volatile const float *)&x[0] < 1000) // FAULT
        ;
    if (i < n)
        y[i] = alpha * x[i];
}
