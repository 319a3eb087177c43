// A template argument that an array gives also types a number passed by value; two real numbers that no one gives
// are asked for once each.
template <typename T>
__global__ void triad(T alpha, const T *b, const T *c, T *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + alpha * c[i];
}

void run(float alpha)
{
    const int n = 4000;
    float *a, *b, *c;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&c, n * sizeof(float));
    triad<<<(n + 255) / 256, 256>>>(alpha, b, c, a, n);
    triad<<<(n + 255) / 256, 256>>>(alpha, a, c, b, n);
}
