// Two kernels to choose from; what main sets says which one runs.
__global__ void slow(int *x, int n)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            x[i] += 1;
}

__global__ void fast(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

int main()
{
    int n = 512;
    bool use_fast = true;
    int *x;
    cudaMalloc(&x, n * sizeof(int));
    if (use_fast) {
        fast<<<n / 128, 128>>>(x, n);
    } else {
        slow<<<1, 32>>>(x, n);
    }
}
