// Softmax, one row per thread: strided reads, accurate exponentials.
#pragma keet size   ROWS = 4096, COLS = 256
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet launch softmax<<<ROWS/128, 128>>>(X, Y, COLS)

__global__ void softmax(const float *X, float *Y, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    X += row * cols;
    Y += row * cols;
    float largest = X[0], sum = 0;
    for (int i = 1; i < cols; i++)
        largest = fmaxf(largest, X[i]);
    for (int i = 0; i < cols; i++)
        sum += expf(X[i] - largest);
    for (int i = 0; i < cols; i++)
        Y[i] = expf(X[i] - largest) / sum;
}
