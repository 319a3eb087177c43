// The launch is two calls below main.
__global__ void add_one(float *p, int len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < len)
        p[i] += 1;
}

static void launch(float *ptr, int len, int threads)
{
    add_one<<<(len + threads - 1) / threads, threads>>>(ptr, len);
}

void process(float *data, int count)
{
    launch(data, count, 64);
}

int main()
{
    int items = 333;
    float *buffer;
    cudaMalloc(&buffer, items * sizeof(float));
    process(buffer, items);
}
