// Pairs that start at odd elements.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) {
        float2 v = *(const float2 *)(x + i); // FAULT
        y[i] = alpha * v.x + 0 * v.y;
    } else if (i < n) {
        y[i] = alpha * x[i];
    }
}
