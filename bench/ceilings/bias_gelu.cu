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
#pragma keet launch gelu<<<ceil_div(ceil_div(ROWS*COLS, BLOCK), 4), BLOCK>>>(X, BIAS, ROWS*COLS, COLS, Y, ROWS*COLS)

__global__ void gelu(const float *first_x, const float *bias, int first_n, int cols, float *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 first_x4 = *reinterpret_cast<const float4 *>(&first_x[i]);
        float4 y4;
        {
            const float fused = first_x4.x + bias[i % cols];
            float v = fused;
            y4.x = 0.5 * v * (1.0 + tanhf(0.7978845608 * (v + 0.044715 * v * v * v)));
        }
        {
            const float fused = first_x4.y + bias[(i + 1) % cols];
            float v = fused;
            y4.y = 0.5 * v * (1.0 + tanhf(0.7978845608 * (v + 0.044715 * v * v * v)));
        }
        {
            const float fused = first_x4.z + bias[(i + 2) % cols];
            float v = fused;
            y4.z = 0.5 * v * (1.0 + tanhf(0.7978845608 * (v + 0.044715 * v * v * v)));
        }
        {
            const float fused = first_x4.w + bias[(i + 3) % cols];
            float v = fused;
            y4.w = 0.5 * v * (1.0 + tanhf(0.7978845608 * (v + 0.044715 * v * v * v)));
        }
        *reinterpret_cast<float4 *>(&y[i]) = y4;
    } else {
        for (; i < n; i++) {
            const float fused = first_x[i] + bias[i % cols];
            float v = fused;
            y[i] = 0.5 * v * (1.0 + tanhf(0.7978845608 * (v + 0.044715 * v * v * v)));
        }
    }
}
