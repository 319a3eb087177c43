// Sizes are members of a host struct.
struct Config {
    int batch, channels;
    float eps = 1e-5f;
};

__global__ void center(float *x, int channels)
{
    __shared__ float mean;
    float *row = x + blockIdx.x * channels;
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int c = 0; c < channels; c++)
            sum += row[c];
        mean = sum / channels;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < channels; c += blockDim.x)
        row[c] -= mean;
}

int main()
{
    Config config;
    config.batch = 8;
    config.channels = 96;
    float *x;
    cudaMalloc(&x, config.batch * config.channels * sizeof(float));
    center<<<config.batch, 32>>>(x, config.channels);
}
