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
#pragma keet tune   BLOCK = 256 in {32, 64, 128, 256}
#pragma keet temp   S : f32[ROWS][COLS]
#pragma keet launch add<<<ceil_div(ceil_div(ROWS*COLS, BLOCK), 4), BLOCK>>>(X, R, S, ROWS*COLS)
#pragma keet launch layernorm<<<ceil_div(32*ROWS, BLOCK), BLOCK>>>(S, GAMMA, BETA, Y, ROWS, COLS)

__global__ void add(const float *x, const float *r, float *s, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 s4;
        float4 x4 = *reinterpret_cast<const float4 *>(&x[i]);
        float4 r4 = *reinterpret_cast<const float4 *>(&r[i]);
        {
            s4.x = x4.x + r4.x;
        }
        {
            s4.y = x4.y + r4.y;
        }
        {
            s4.z = x4.z + r4.z;
        }
        {
            s4.w = x4.w + r4.w;
        }
        *reinterpret_cast<float4 *>(&s[i]) = s4;
    } else {
        for (; i < n; i++) {
            s[i] = x[i] + r[i];
        }
    }
}

__global__ void layernorm(
    const float *S, const float *gamma, const float *beta, float *Y, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float mean = 0;
        for (int i = lane; i < cols; i += 32)
            mean += S[row * cols + i];
        for (int offset = 16; offset > 0; offset /= 2)
            mean += __shfl_xor_sync(0xffffffff, mean, offset);
        mean /= cols;
        float var = 0;
        for (int i = lane; i < cols; i += 32) {
            float d = S[row * cols + i] - mean;
            var += d * d;
        }
        for (int offset = 16; offset > 0; offset /= 2)
            var += __shfl_xor_sync(0xffffffff, var, offset);
        var /= cols;
        const float inverse = 1.0f / sqrtf(var + 1e-5f);
        for (int i = lane; i < cols; i += 32)
            Y[row * cols + i] = (S[row * cols + i] - mean) * inverse * gamma[i] + beta[i];
    }
}
