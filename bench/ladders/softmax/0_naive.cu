// Softmax of rows, one row a thread, three passes.
#pragma keet size   ROWS = 4096, COLS = 4096
#pragma keet check  ROWS = 64, COLS = 512
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet work   flops = 5*ROWS*COLS, bytes = 8*ROWS*COLS
#pragma keet launch softmax<<<ROWS/32, 32>>>(X, Y, COLS)


__global__ void softmax(const float *x, float *y, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float top = -INFINITY, sum = 0;
    x += (size_t)row * cols;
    y += (size_t)row * cols;
    for (int i = 0; i < cols; i++)
        top = fmaxf(top, x[i]);
    for (int i = 0; i < cols; i++)
        sum += __expf(x[i] - top);
    for (int i = 0; i < cols; i++)
        y[i] = __expf(x[i] - top) / sum;
}
