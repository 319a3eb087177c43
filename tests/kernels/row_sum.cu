// Sums of the rows of a matrix, one row per thread: the original of the planted faults that concern
// threads working together.
#pragma keet size   ROWS = 4096, COLS = 1024
#pragma keet check  ROWS = 5, COLS = 300
#pragma keet check  ROWS = 8, COLS = 128
#pragma keet in     X : f32[ROWS][COLS] = uniform(-1, 1)
#pragma keet out    Y : f32[ROWS]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = ROWS*COLS, bytes = 4*ROWS*COLS
#pragma keet launch row_sum<<<ceil_div(ROWS, 64), 64>>>(X, Y, ROWS, COLS)

__global__ void row_sum(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int i = 0; i < cols; i++)
            sum += x[row * cols + i];
        y[row] = sum;
    }
}
