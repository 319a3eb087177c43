// Row-wise softmax of an f32 matrix, one row per thread: maximum, sum of exponentials, scale.
#pragma keet size   ROWS = 4096, COLS = 1024
#pragma keet check  ROWS = 67, COLS = 129
#pragma keet check  ROWS = 32, COLS = 64
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet work   flops = 5*ROWS*COLS, bytes = 8*ROWS*COLS
#pragma keet tune   BLOCK = 32 in {32, 64, 128, 256}
#pragma keet launch softmax<<<ceil_div(32*ROWS, BLOCK), BLOCK>>>(X, Y, ROWS, COLS)

__global__ void softmax(const float *__restrict__ X, float *__restrict__ Y, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float largest = X[row * cols];
        for (int i = 1 + lane; i < cols; i += 32)
            largest = fmaxf(largest, X[row * cols + i]);
        for (int offset = 16; offset > 0; offset /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
        float sum = 0;
        for (int i = lane; i < cols; i += 32)
            sum += __expf(X[row * cols + i] - largest);
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        const float inverse = __fdividef(1.0f, sum);
        for (int i = lane; i < cols; i += 32)
            Y[row * cols + i] = __expf(X[row * cols + i] - largest) * inverse;
    }
}
