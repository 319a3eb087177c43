// Reads past the end of its shared array.
#pragma keet launch row_sum<<<ROWS, 128>>>(X, Y, ROWS, COLS)

__global__ void row_sum(const float *x, float *y, int rows, int cols)
{
    __shared__ float part[128];
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 128)
        sum += x[blockIdx.x * cols + i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i <= 128; i++)
            sum += i < cols ? part[i] : 0; // FAULT
        y[blockIdx.x] = sum;
    }
}
