// A part of a program: which numbers it is called with, only the program knows.
struct Window {
    int first, shift;
    float scale;
};

__global__ void shift_all(const float *x, float *y, int rows, int columns, float factor, Window w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w.first && i < rows * columns)
        y[i] = factor * x[i] * w.scale + w.shift;
}

void shift_on_device(const float *x, float *y, int rows, int columns, float factor, Window w)
{
    const int n = rows * columns;
    float *d_x, *d_y;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_y, 0, n * sizeof(float));
    shift_all<<<(n + 127) / 128, 128>>>(d_x, d_y, rows, columns, factor, w);
    cudaMemcpy(y, d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    cudaFree(d_y);
}
