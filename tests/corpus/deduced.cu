// Template arguments that the compiler deduces from the arguments of the launch.
template <typename In, typename Out>
__global__ void convert(const In *in_data, Out *out_data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out_data[i] = (Out)in_data[i];
}

int main()
{
    int n = 640;
    short *samples;
    float *converted;
    cudaMalloc(&samples, n * sizeof(short));
    cudaMalloc(&converted, n * sizeof(float));
    convert<<<n / 64, 64>>>(samples, converted, n);
}
