// Coefficients in constant memory, set by the host.
#define RADIUS 2
__constant__ float coefficients[2 * RADIUS + 1] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};

__global__ void filter(float *dst, const float *src, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (i + k >= 0 && i + k < n)
            sum += coefficients[k + RADIUS] * src[i + k];
    dst[i] = sum;
}

int main()
{
    const int n = 1000;
    float *dst, *src;
    cudaMalloc(&dst, n * sizeof(float));
    cudaMalloc(&src, n * sizeof(float));
    filter<<<(n + 127) / 128, 128>>>(dst, src, n);
}
