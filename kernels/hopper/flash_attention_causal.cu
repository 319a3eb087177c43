// Attention of bfloat16 heads; a query looks at the keys up to its own place. One thread a query, softmax in one pass with a running maximum.
#pragma keet size   H = 16, S = 2048, D = 64
#pragma keet assume D == 64
#pragma keet check  H = 2, S = 64, D = 64
#pragma keet check  H = 3, S = 128, D = 64
#pragma keet in     Q : bf16[H][S][D] = uniform(-1, 1)
#pragma keet in     K : bf16[H][S][D] = uniform(-1, 1)
#pragma keet in     V : bf16[H][S][D] = uniform(-1, 1)
#pragma keet out    O : bf16[H][S][D]
#pragma keet tolerance rel = 1e-2, abs = 4e-3
#pragma keet work   bf16_flops = 2*H*S*(S + 1)*D + 5*H*S*(S + 1)/2, special_ops = H*S*(S + 1)/2, bytes = 8*H*S*D
#pragma keet tune   BLOCK = 64 in {32, 64, 128}
#pragma keet launch flash_attention_causal<<<dim3(ceil_div(S, BLOCK), H), BLOCK>>>(Q, K, V, O, S)
#include <cuda_bf16.h>

#define D_HEAD 64

__global__ void flash_attention_causal(const __nv_bfloat16 *Q, const __nv_bfloat16 *K, const __nv_bfloat16 *V, __nv_bfloat16 *O, int S)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= S)
        return;
    size_t head = (size_t)blockIdx.y * S * D_HEAD;
    float query[D_HEAD], sum[D_HEAD];
    for (int d = 0; d < D_HEAD; d++) {
        query[d] = __bfloat162float(Q[head + (size_t)q * D_HEAD + d]) * 0.125f;
        sum[d] = 0;
    }
    float largest = -INFINITY, total = 0;
    for (int k = 0; k < q + 1; k++) {
        float score = 0;
        for (int d = 0; d < D_HEAD; d++)
            score += query[d] * __bfloat162float(K[head + (size_t)k * D_HEAD + d]);
        float most = fmaxf(largest, score);
        float old = expf(largest - most), weight = expf(score - most);
        total = total * old + weight;
        for (int d = 0; d < D_HEAD; d++)
            sum[d] = sum[d] * old + weight * __bfloat162float(V[head + (size_t)k * D_HEAD + d]);
        largest = most;
    }
    for (int d = 0; d < D_HEAD; d++)
        O[head + (size_t)q * D_HEAD + d] = __float2bfloat16(sum[d] / total);
}
