// main goes through a list of sizes: the first one is taken.
__global__ void rotate(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (x[i] << 1) | (unsigned(x[i]) >> 31);
}

int main()
{
    int sizes[] = {1024, 4096, 16384};
    for (int s = 0; s < 3; s++) {
        int n = sizes[s];
        int *x;
        cudaMalloc(&x, n * sizeof(int));
        rotate<<<n / 256, 256>>>(x, n);
        cudaFree(x);
    }
}
