// A mixture of experts, forward: tokens are sorted by expert, those of expert e are rows first[e] to first[e + 1] - 1,
// and each is multiplied with its expert's weights. Experts have different numbers of tokens, also none.
#pragma keet size   T = 4096, E = 8, D = 1024, F = 1024
#pragma keet check  T = 96, E = 4, D = 64, F = 48
#pragma keet check  T = 70, E = 6, D = 32, F = 64
#pragma keet in     X : bf16[T][D] = uniform(-1, 1)
#pragma keet in     W : bf16[E][F][D] = uniform(-1, 1)
#pragma keet in     first : i32[E + 1] = sorted(0, T)
#pragma keet out    Y : bf16[T][F]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   bf16_flops = 2*T*D*F, bytes = 2*(T*D + E*F*D + T*F)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch moe_forward<<<dim3(ceil_div(F, TILE), ceil_div(T, TILE)), dim3(TILE, TILE)>>>(X, W, first, Y, T, E, D, F)
#include <cuda_bf16.h>

__global__ void moe_forward(const __nv_bfloat16 *X, const __nv_bfloat16 *W, const int *first, __nv_bfloat16 *Y,
    int T, int E, int D, int F)
{
    int token = blockIdx.y * blockDim.y + threadIdx.y;
    int out = blockIdx.x * blockDim.x + threadIdx.x;
    if (token < T && out < F) {
        int expert = 0;
        while (expert + 1 < E && token >= first[expert + 1])
            expert++;
        const __nv_bfloat16 *w = W + ((size_t)expert * F + out) * D;
        float sum = 0;
        for (int k = 0; k < D; k++)
            sum += __bfloat162float(X[(size_t)token * D + k]) * __bfloat162float(w[k]);
        Y[(size_t)token * F + out] = __float2bfloat16(sum);
    }
}
