// Row-wise softmax of an f32 matrix, one row per thread: maximum, sum of exponentials, scale.
#pragma keet size   ROWS = 4096, COLS = 1024
#pragma keet check  ROWS = 67, COLS = 129
#pragma keet check  ROWS = 32, COLS = 64
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet work   flops = 5*ROWS*COLS, bytes = 8*ROWS*COLS
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet launch softmax<<<ceil_div(ROWS, BLOCK), BLOCK>>>(X, Y, ROWS, COLS)

__global__ void softmax(const float *X, float *Y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float largest = X[row * cols];
        for (int i = 1; i < cols; i++)
            largest = fmaxf(largest, X[row * cols + i]);
        float sum = 0;
        for (int i = 0; i < cols; i++)
            sum += expf(X[row * cols + i] - largest);
        for (int i = 0; i < cols; i++)
            Y[row * cols + i] = expf(X[row * cols + i] - largest) / sum;
    }
}
