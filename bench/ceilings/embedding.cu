// Gather of rows from an f32 embedding table, one token per thread: each copies a whole row.
#pragma keet size   VOCAB = 16384, TOKENS = 8192, DIM = 512
#pragma keet check  VOCAB = 101, TOKENS = 67, DIM = 65
#pragma keet check  VOCAB = 64, TOKENS = 128, DIM = 32
#pragma keet in     TABLE : f32[VOCAB][DIM] = normal(0, 1)
#pragma keet in     IDS : i32[TOKENS] = integers(0, VOCAB-1)
#pragma keet out    OUT : f32[TOKENS][DIM]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   flops = 0, bytes = 8*TOKENS*DIM + 4*TOKENS
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet launch embedding<<<ceil_div(32*TOKENS, BLOCK), BLOCK>>>(TABLE, IDS, OUT, TOKENS, DIM)

__global__ void embedding(const float *__restrict__ table, const int *__restrict__ ids, float *__restrict__ out, int tokens, int dim)
{
    int token = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (token < tokens) {
        #pragma unroll 16
        for (int i = lane; i < dim; i += 32)
            out[token * dim + i] = table[ids[token] * dim + i];
    }
}
