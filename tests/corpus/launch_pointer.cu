// Kernels through a pointer and through a helper that takes one.
typedef void (*kernel_t)(float *, const float *, int);

__global__ void twice(float *out, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * x[i];
}

void timed(kernel_t kernel, float *out, const float *x, int n)
{
    int threads = 128;
    kernel<<<(n + threads - 1) / threads, threads>>>(out, x, n);
}

int main()
{
    int n = 777;
    float *d_out, *d_x;
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMalloc(&d_x, n * sizeof(float));
    timed(twice, d_out, d_x, n);
}
