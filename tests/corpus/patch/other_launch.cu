// Another function launches the kernel too, in other words, which the winner is not right for.
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1.0f;
}

void again(float *p, int count)
{
    fill<<<count / 32, 32>>>(p, count);
}

int main()
{
    const int n = 4096;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    fill<<<(n + 63) / 64, 64>>>(x, n);
}
