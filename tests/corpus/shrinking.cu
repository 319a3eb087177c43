// A loop whose launches shrink: the contract is that of its first round.
__global__ void fold(float *x, int half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < half)
        x[i] += x[i + half];
}

int main()
{
    int n = 4096;
    float *d_x;
    cudaMalloc(&d_x, n * sizeof(float));
    for (int half = n / 2; half > 0; half >>= 1)
        fold<<<(half + 63) / 64, 64>>>(d_x, half);
}
