// Softmax, one row per warp: shuffles and fast exponentials.
#pragma keet size   ROWS = 2048, COLS = 1024
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet launch softmax<<<ROWS/8, dim3(32, 8)>>>(X, Y, COLS)

__global__ void softmax(const float *X, float *Y, int cols)
{
    int row = blockIdx.x * 8 + threadIdx.y, lane = threadIdx.x;
    X += row * cols;
    Y += row * cols;
    float largest = -3e38f, sum = 0;
    for (int i = lane; i < cols; i += 32)
        largest = fmaxf(largest, X[i]);
    for (int d = 16; d > 0; d /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
    for (int i = lane; i < cols; i += 32)
        sum += __expf(X[i] - largest);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    float scale = 1 / sum;
    for (int i = lane; i < cols; i += 32)
        Y[i] = __expf(X[i] - largest) * scale;
}
