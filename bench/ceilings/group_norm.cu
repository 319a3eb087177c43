// Group normalisation of f32 features [batch][group][channel of the group][position]: each group of a
// sample is normalised together, then scaled and shifted per channel. One group of one sample per thread.
#pragma keet size   B = 32, G = 32, C = 2, L = 1024
#pragma keet check  B = 3, G = 3, C = 2, L = 67
#pragma keet check  B = 2, G = 4, C = 5, L = 64
#pragma keet in     X : f32[B][G][C][L] = normal(1, 2)
#pragma keet in     GAMMA : f32[G][C] = uniform(0.5, 1.5)
#pragma keet in     BETA : f32[G][C] = uniform(-1, 1)
#pragma keet out    Y : f32[B][G][C][L]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 8*B*G*C*L, bytes = 4*(2*B*G*C*L + 2*G*C)
#pragma keet tune   BLOCK = 128 in {32, 64, 128}
#pragma keet launch group_norm<<<ceil_div(32*(ceil_div(B*G, BLOCK)*BLOCK), BLOCK), BLOCK>>>(X, GAMMA, BETA, Y, B, G, C, L)

__global__ void group_norm(const float *__restrict__ X, const float *__restrict__ gamma, const float *__restrict__ beta, float *__restrict__ Y,
    int batch, int groups, int channels, int length)
{
    int index = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (index >= batch * groups)
        return;
    int size = channels * length;
    int base = index * size;
    int first = index % groups * channels;
    float sum = 0, squares = 0;
    for (int i = lane; i < size; i += 32) {
        sum += X[base + i];
        squares += X[base + i] * X[base + i];
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    for (int offset = 16; offset > 0; offset /= 2)
        squares += __shfl_xor_sync(0xffffffff, squares, offset);
    float mean = __fdividef(sum, size);
    float var = __fdividef(squares, size) - mean * mean;
    const float inverse = rsqrtf(var + 1e-5f);
    for (int i = lane; i < size; i += 32) {
        int c = first + i / length;
        Y[base + i] = (X[base + i] - mean) * inverse * gamma[c] + beta[c];
    }
}
