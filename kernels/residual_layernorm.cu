// Residual sum and layer normalisation of each row: Y = layernorm(X + R) * GAMMA + BETA, f32. Two
// launches: one element per thread, then one row per thread.
#pragma keet size   ROWS = 4096, COLS = 768
#pragma keet check  ROWS = 67, COLS = 129
#pragma keet check  ROWS = 33, COLS = 64
#pragma keet in     X : f32[ROWS][COLS] = normal(0.5, 2)
#pragma keet in     R : f32[ROWS][COLS] = normal(0, 1)
#pragma keet in     GAMMA : f32[COLS] = uniform(0.5, 1.5)
#pragma keet in     BETA : f32[COLS] = uniform(-1, 1)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 9*ROWS*COLS, bytes = 4*(3*ROWS*COLS + 2*COLS)
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet temp   S : f32[ROWS][COLS]
#pragma keet launch add<<<ceil_div(ROWS*COLS, BLOCK), BLOCK>>>(X, R, S, ROWS*COLS)
#pragma keet launch layernorm<<<ceil_div(ROWS, BLOCK), BLOCK>>>(S, GAMMA, BETA, Y, ROWS, COLS)

__global__ void add(const float *x, const float *r, float *s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        s[i] = x[i] + r[i];
}

__global__ void layernorm(
    const float *S, const float *gamma, const float *beta, float *Y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float mean = 0;
        for (int i = 0; i < cols; i++)
            mean += S[row * cols + i];
        mean /= cols;
        float var = 0;
        for (int i = 0; i < cols; i++) {
            float d = S[row * cols + i] - mean;
            var += d * d;
        }
        var /= cols;
        for (int i = 0; i < cols; i++)
            Y[row * cols + i] = (S[row * cols + i] - mean) / sqrtf(var + 1e-5f) * gamma[i] + beta[i];
    }
}
