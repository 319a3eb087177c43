// A 3x3 convolution in half precision, channels last, zeros at the border, sums in f32.
#pragma keet size   B = 8, H = 56, W = 56, C = 64, F = 64
#pragma keet check  B = 1, H = 7, W = 9, C = 16, F = 24
#pragma keet check  B = 2, H = 8, W = 8, C = 32, F = 16
#pragma keet in     X : f16[B][H][W][C] = uniform(-1, 1)
#pragma keet in     K : f16[F][3][3][C] = uniform(-0.5, 0.5)
#pragma keet out    Y : f16[B][H][W][F]
#pragma keet tolerance rel = 4e-3, abs = 1e-2
#pragma keet work   f16_flops = 18*B*H*W*C*F, bytes = 2*(B*H*W*C + 9*F*C + B*H*W*F)
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch conv2d_f16<<<ceil_div(B*H*W*F, BLOCK), BLOCK>>>(X, K, Y, B, H, W, C, F)
#include <cuda_fp16.h>

__global__ void conv2d_f16(const __half *X, const __half *K, __half *Y, int B, int H, int W, int C, int F)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * H * W * F)
        return;
    int f = i % F, w = i / F % W, h = i / F / W % H, b = i / F / W / H;
    float sum = 0;
    for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++) {
            int y = h + r - 1, x = w + s - 1;
            if (y < 0 || y >= H || x < 0 || x >= W)
                continue;
            for (int c = 0; c < C; c++)
                sum += __half2float(X[(((size_t)b * H + y) * W + x) * C + c]) * __half2float(K[((f * 3 + r) * 3 + s) * C + c]);
        }
    }
    Y[i] = __float2half(sum);
}
