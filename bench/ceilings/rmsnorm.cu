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
#pragma keet launch rmsnorm<<<ceil_div(32*ROWS, BLOCK), BLOCK>>>(X, WEIGHT, Y, eps, ROWS, COLS)

__global__ void rmsnorm(
    const float *__restrict__ X, const float *__restrict__ weight, float *__restrict__ Y, float eps, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float squares = 0;
    for (int i = lane; i < cols; i += 32)
        squares += X[row * cols + i] * X[row * cols + i];
    for (int offset = 16; offset > 0; offset /= 2)
        squares += __shfl_xor_sync(0xffffffff, squares, offset);
    const float inverse = 1.0f / cols;
    for (int i = lane; i < cols; i += 32)
        Y[row * cols + i] = X[row * cols + i] * rsqrtf(squares * inverse + eps) * weight[i];
}
