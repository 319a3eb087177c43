// Each element times a number.
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch each<<<ceil_div(M*N, BLOCK), BLOCK>>>(A, y, s, M*N)

__global__ void each(const float *x, float *y, float s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = v * s;
    }
}
