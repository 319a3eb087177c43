// Macros that only the command line gives: -D TILE=32, and -DREAL of a type.
__global__ void copy_tile(const REAL *in, REAL *out, int n)
{
    __shared__ REAL tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;

    if (i < n)
        tile[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n)
        out[i] = tile[threadIdx.x];
}

int main()
{
    const int n = 1024;
    REAL *in, *out;

    cudaMalloc(&in, n * sizeof(REAL));
    cudaMalloc(&out, n * sizeof(REAL));
    copy_tile<<<n / TILE, TILE>>>(in, out, n);
    cudaDeviceSynchronize();
    return 0;
}
