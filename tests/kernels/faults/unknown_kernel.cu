// Launches a kernel that the file does not have.
#pragma keet launch scaled<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N) // FAULT

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
