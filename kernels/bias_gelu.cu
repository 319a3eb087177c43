// Bias, then GELU (tanh form), over an f32 matrix: two launches, one element per thread. The constants
// without an f make the second one compute in double precision.
#pragma keet size   ROWS = 4096, COLS = 2048
#pragma keet check  ROWS = 37, COLS = 131
#pragma keet check  ROWS = 16, COLS = 256
#pragma keet in     X : f32[ROWS][COLS] = normal(0, 1)
#pragma keet in     BIAS : f32[COLS] = uniform(-1, 1)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 12*ROWS*COLS, bytes = 4*(2*ROWS*COLS + COLS)
#pragma keet tune   BLOCK = 128 in {64, 128, 256, 512}
#pragma keet temp   BIASED : f32[ROWS][COLS]
#pragma keet launch add_bias<<<ceil_div(ROWS*COLS, BLOCK), BLOCK>>>(X, BIAS, BIASED, ROWS*COLS, COLS)
#pragma keet launch gelu<<<ceil_div(ROWS*COLS, BLOCK), BLOCK>>>(BIASED, Y, ROWS*COLS)

__global__ void add_bias(const float *x, const float *bias, float *y, int n, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + bias[i % cols];
}

__global__ void gelu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5 * v * (1.0 + tanhf(0.7978845608 * (v + 0.044715 * v * v * v)));
    }
}
