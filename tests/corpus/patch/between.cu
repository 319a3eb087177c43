// What the first kernel wrote is looked at before the second one is launched.
__global__ void first(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i];
}

__global__ void second(float *z, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = y[i] + 1.0f;
}

int main()
{
    const int n = 4096;
    float *x, *y, *z, h[4096];
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    first<<<(n + 63) / 64, 64>>>(y, x, n);
    cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    second<<<(n + 63) / 64, 64>>>(z, y, n);
}
