// Root-mean-square normalisation of each row of an f32 matrix. One row per thread.
#pragma keet size   ROWS = 4096, COLS = 1024
#pragma keet check  ROWS = 65, COLS = 131
#pragma keet check  ROWS = 32, COLS = 96
#pragma keet in     X : f32[ROWS][COLS] = normal(0, 1)
#pragma keet in     WEIGHT : f32[COLS] = uniform(0.5, 1.5)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet scalar eps : f32 = 1e-6
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 4*ROWS*COLS, bytes = 4*(2*ROWS*COLS + COLS)
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet launch rmsnorm<<<ceil_div(ROWS, BLOCK), BLOCK>>>(X, WEIGHT, Y, eps, ROWS, COLS)

__global__ void rmsnorm(
    const float *X, const float *weight, float *Y, float eps, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float squares = 0;
    for (int i = 0; i < cols; i++)
        squares += X[row * cols + i] * X[row * cols + i];
    for (int i = 0; i < cols; i++)
        Y[row * cols + i] = X[row * cols + i] * rsqrtf(squares / cols + eps) * weight[i];
}
