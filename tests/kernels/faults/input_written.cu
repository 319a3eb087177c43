// Clears its input behind itself.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = alpha * x[i];
        ((float *)x)[i] = 0; // FAULT
    }
}
