// A thread a row, so that neighbours read far apart; sizes in a struct of main.
struct shape {
    int rows, cols;
};

__global__ void matvec(const double *a, const double *x, double *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        double sum = 0.0;
        for (int c = 0; c < cols; ++c)
            sum += a[row * cols + c] * x[c];
        y[row] = sum;
    }
}

int main()
{
    shape s = {512, 256};
    double *a, *x, *y;
    cudaMalloc(&a, sizeof(double) * s.rows * s.cols);
    cudaMalloc(&x, sizeof(double) * s.cols);
    cudaMalloc(&y, sizeof(double) * s.rows);
    int threads = 128;
    matvec<<<(s.rows + threads - 1) / threads, threads>>>(a, x, y, s.rows, s.cols);
    cudaDeviceSynchronize();
}
