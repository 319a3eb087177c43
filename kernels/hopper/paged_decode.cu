// Attention of one new token a sequence over keys and values that lie in pages: page t of sequence b is table[b][t], and
// the sequence has lengths[b] tokens. Each group of G query heads shares one head of keys and values. A block works on
// one head of one sequence, so that few blocks walk through long sequences.
#pragma keet size   B = 8, H = 4, G = 4, D = 128, PAGE = 16, PAGES = 64, POOL = 512
#pragma keet check  B = 3, H = 2, G = 2, D = 64, PAGE = 8, PAGES = 5, POOL = 16
#pragma keet check  B = 2, H = 1, G = 4, D = 32, PAGE = 16, PAGES = 3, POOL = 7
#pragma keet in     Q : bf16[B][H][G][D] = uniform(-1, 1)
#pragma keet in     K : bf16[POOL][PAGE][H][D] = uniform(-1, 1)
#pragma keet in     V : bf16[POOL][PAGE][H][D] = uniform(-1, 1)
#pragma keet in     table : i32[B][PAGES] = integers(0, POOL - 1)
#pragma keet in     lengths : i32[B] = integers(1, PAGE*PAGES)
#pragma keet out    O : f32[B][H][G][D]
#pragma keet tolerance rel = 2e-3, abs = 2e-3
#pragma keet work   bf16_flops = 4*B*H*G*D*PAGE*PAGES, bytes = 4*B*H*D*PAGE*PAGES + 6*B*H*G*D
#pragma keet launch paged_decode<<<dim3(G, H, B), D, 4*PAGE*PAGES + 4*D>>>(Q, K, V, table, lengths, O, PAGE, PAGES)
#include <cuda_bf16.h>

__global__ void paged_decode(const __nv_bfloat16 *Q, const __nv_bfloat16 *K, const __nv_bfloat16 *V, const int *table,
    const int *lengths, float *O, int page, int pages)
{
    extern __shared__ float shared[];
    float *part = shared, *score = shared + blockDim.x;
    int g = blockIdx.x, h = blockIdx.y, b = blockIdx.z, d = threadIdx.x, D = blockDim.x, H = gridDim.y;
    size_t query = (((size_t)b * H + h) * gridDim.x + g) * D + d;
    int length = lengths[b];
    float own = __bfloat162float(Q[query]) * rsqrtf((float)D), largest = -INFINITY;
    for (int t = 0; t < length; t++) {
        size_t at = (((size_t)table[b * pages + t / page] * page + t % page) * H + h) * D + d;
        part[d] = own * __bfloat162float(K[at]);
        __syncthreads();
        for (int half = D / 2; half > 0; half /= 2) {
            if (d < half)
                part[d] += part[d + half];
            __syncthreads();
        }
        if (d == 0)
            score[t] = part[0];
        largest = fmaxf(largest, part[0]);
        __syncthreads();
    }
    float sum = 0, total = 0;
    for (int t = 0; t < length; t++) {
        size_t at = (((size_t)table[b * pages + t / page] * page + t % page) * H + h) * D + d;
        float weight = expf(score[t] - largest);
        total += weight;
        sum += weight * __bfloat162float(V[at]);
    }
    O[query] = sum / total;
}
