// Layer normalisation of each row of an f32 matrix: mean, variance, scale and shift. One row per thread.
#pragma keet size   ROWS = 4096, COLS = 1024
#pragma keet check  ROWS = 67, COLS = 129
#pragma keet check  ROWS = 33, COLS = 64
#pragma keet in     X : f32[ROWS][COLS] = normal(0.5, 2)
#pragma keet in     GAMMA : f32[COLS] = uniform(0.5, 1.5)
#pragma keet in     BETA : f32[COLS] = uniform(-1, 1)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 8*ROWS*COLS, bytes = 4*(2*ROWS*COLS + 2*COLS)
#pragma keet tune   BLOCK = 256 in {32, 64, 128, 256}
#pragma keet launch layernorm<<<ceil_div(32*ROWS, BLOCK), BLOCK>>>(X, GAMMA, BETA, Y, ROWS, COLS)

__global__ void layernorm(
    const float *__restrict__ X, const float *__restrict__ gamma, const float *__restrict__ beta, float *__restrict__ Y, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float mean = 0;
        for (int i = lane; i < cols; i += 32)
            mean += X[row * cols + i];
        for (int offset = 16; offset > 0; offset /= 2)
            mean += __shfl_xor_sync(0xffffffff, mean, offset);
        mean /= cols;
        float var = 0;
        #pragma unroll 4
        for (int i = lane; i < cols; i += 32) {
            float d = X[row * cols + i] - mean;
            var += d * d;
        }
        for (int offset = 16; offset > 0; offset /= 2)
            var += __shfl_xor_sync(0xffffffff, var, offset);
        var /= cols;
        #pragma unroll 8
        for (int i = lane; i < cols; i += 32)
            Y[row * cols + i] = __fdividef((X[row * cols + i] - mean), sqrtf(var + 1e-5f)) * gamma[i] + beta[i];
    }
}
