// A mixture of experts, gradient of the weights: for each expert the outer products of its tokens' gradients and
// inputs, added up. The sums are as long as the expert has tokens; an expert without tokens has the gradient zero.
#pragma keet size   T = 4096, E = 8, D = 1024, F = 1024
#pragma keet check  T = 96, E = 4, D = 64, F = 48
#pragma keet check  T = 70, E = 6, D = 32, F = 64
#pragma keet in     X : bf16[T][D] = uniform(-1, 1)
#pragma keet in     G : bf16[T][F] = uniform(-1, 1)
#pragma keet in     first : i32[E + 1] = sorted(0, T)
#pragma keet out    DW : f32[E][F][D]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   bf16_flops = 2*T*D*F, bytes = 2*(T*D + T*F) + 4*E*F*D
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch moe_weight_grad<<<dim3(ceil_div(D, TILE), ceil_div(F, TILE), E), dim3(TILE, TILE)>>>(X, G, first, DW, D, F)
#include <cuda_bf16.h>

__global__ void moe_weight_grad(const __nv_bfloat16 *X, const __nv_bfloat16 *G, const int *first, float *DW, int D, int F)
{
    int expert = blockIdx.z;
    int f = blockIdx.y * blockDim.y + threadIdx.y;
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (f < F && d < D) {
        float sum = 0;
        for (int t = first[expert]; t < first[expert + 1]; t++)
            sum += __bfloat162float(G[(size_t)t * F + f]) * __bfloat162float(X[(size_t)t * D + d]);
        DW[((size_t)expert * F + f) * D + d] = sum;
    }
}
