// Gather of rows from an f32 embedding table, one token per warp: its lanes copy the row together.
#pragma keet size   VOCAB = 16384, TOKENS = 8192, DIM = 512
#pragma keet check  VOCAB = 101, TOKENS = 67, DIM = 65
#pragma keet check  VOCAB = 64, TOKENS = 128, DIM = 32
#pragma keet in     TABLE : f32[VOCAB][DIM] = normal(0, 1)
#pragma keet in     IDS : i32[TOKENS] = integers(0, VOCAB-1)
#pragma keet out    OUT : f32[TOKENS][DIM]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   flops = 0, bytes = 8*TOKENS*DIM + 4*TOKENS
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet launch embedding<<<ceil_div(TOKENS, BLOCK/32), BLOCK>>>(TABLE, IDS, OUT, TOKENS, DIM)

__global__ void embedding(const float *__restrict__ table, const int *__restrict__ ids, float *__restrict__ out,
                          int tokens, int dim)
{
    int token = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (token < tokens) {
        const float *from = table + ids[token] * dim;
        float *to = out + token * dim;
        if (dim % 4 == 0) {
            const float4 *from4 = reinterpret_cast<const float4 *>(from);
            float4 *to4 = reinterpret_cast<float4 *>(to);
#pragma unroll 4
            for (int i = lane; i < dim / 4; i += 32)
                to4[i] = from4[i];
        } else {
            // Rows that are not a multiple of 4 long: their vectors would not be aligned.
#pragma unroll 8
            for (int i = lane; i < dim; i += 32)
                to[i] = from[i];
        }
    }
}
