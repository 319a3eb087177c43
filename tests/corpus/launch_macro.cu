// A launch in a macro that takes the kernel and its arguments.
#define LAUNCH(kernel, count, ...)                               \
    {                                                            \
        const int blocks_ = ((count) + 255) / 256;               \
        kernel<<<blocks_, 256>>>(__VA_ARGS__);                   \
        cudaDeviceSynchronize();                                 \
    }

__global__ void square(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * in[i];
}

int main()
{
    const int n = 2000;
    int *in, *out;
    cudaMalloc(&in, sizeof(int) * n);
    cudaMalloc(&out, sizeof(int) * n);
    LAUNCH(square, n, out, in, n)
    return 0;
}
