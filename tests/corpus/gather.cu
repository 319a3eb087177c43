// Values of one array index another.
__global__ void gather(const float *table, const int *idx, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[idx[i]];
}

int main()
{
    int rows = 777, n = 2000;
    float *table, *out;
    int *idx;
    cudaMalloc(&table, rows * sizeof(float));
    cudaMalloc(&idx, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(float));
    gather<<<(n + 255) / 256, 256>>>(table, idx, out, n);
}
