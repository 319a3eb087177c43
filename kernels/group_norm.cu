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
#pragma keet tune   BLOCK = 64 in {32, 64, 128}
#pragma keet launch group_norm<<<ceil_div(B*G, BLOCK), BLOCK>>>(X, GAMMA, BETA, Y, B, G, C, L)

__global__ void group_norm(const float *X, const float *gamma, const float *beta, float *Y,
    int batch, int groups, int channels, int length)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= batch * groups)
        return;
    int size = channels * length;
    int base = index * size;
    int first = index % groups * channels;
    float sum = 0, squares = 0;
    for (int i = 0; i < size; i++) {
        sum += X[base + i];
        squares += X[base + i] * X[base + i];
    }
    float mean = sum / size;
    float var = squares / size - mean * mean;
    for (int i = 0; i < size; i++) {
        int c = first + i / length;
        Y[base + i] = (X[base + i] - mean) / sqrtf(var + 1e-5f) * gamma[c] + beta[c];
    }
}
