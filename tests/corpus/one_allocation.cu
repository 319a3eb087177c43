// Three pointers into one allocation.
__global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 1000;
    float *pool;
    cudaMalloc(&pool, 3 * n * sizeof(float));
    float *a = pool, *b = pool + n;
    add<<<(n + 99) / 100, 100>>>(pool + 2 * n, a, b, n);
}
