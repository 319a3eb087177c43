// bf16 in and out, arithmetic in f32: bias and ReLU.
#pragma keet size   ROWS = 2048, COLS = 1024
#pragma keet in     X : bf16[ROWS][COLS]
#pragma keet in     B : bf16[COLS]
#pragma keet out    Y : bf16[ROWS][COLS]
#pragma keet launch bias_relu<<<dim3(COLS/256, ROWS/8), 256>>>(X, B, Y, COLS)
#include <cuda_bf16.h>

__global__ void bias_relu(const __nv_bfloat16 *X, const __nv_bfloat16 *B, __nv_bfloat16 *Y, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float bias = __bfloat162float(B[col]);
    for (int r = 0; r < 8; r++) {
        int i = (blockIdx.y * 8 + r) * cols + col;
        Y[i] = __float2bfloat16(fmaxf(__bfloat162float(X[i]) + bias, 0));
    }
}
