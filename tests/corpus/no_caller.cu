// A library's function: who calls it knows the sizes and has allocated the memory.
__global__ void scale_rows(float *m, const float *factors, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c < cols)
        m[r * cols + c] *= factors[r];
}

extern "C" void scaleRows(float *m, const float *factors, int rows, int cols, cudaStream_t stream)
{
    dim3 grid((cols + 127) / 128, rows);
    scale_rows<<<grid, 128, 0, stream>>>(m, factors, rows, cols);
}
