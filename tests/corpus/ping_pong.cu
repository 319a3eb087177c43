// The same kernel forth and back between two buffers.
__global__ void blur(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = 0.5f * (from[i] + from[i > 0 ? i - 1 : 0]);
}

int main()
{
    int n = 1500;
    static float h[1500];
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(a, h, n * sizeof(float), cudaMemcpyHostToDevice);
    blur<<<(n + 255) / 256, 256>>>(a, b, n);
    blur<<<(n + 255) / 256, 256>>>(b, a, n);
    cudaMemcpy(h, a, n * sizeof(float), cudaMemcpyDeviceToHost);
}
