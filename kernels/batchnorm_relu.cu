// Batch normalisation of f32 features [batch][channel][position] by the batch's own mean and variance,
// then relu. Two launches: one channel per thread, then one element per thread.
#pragma keet size   B = 16, C = 256, L = 196
#pragma keet check  B = 3, C = 5, L = 37
#pragma keet check  B = 2, C = 33, L = 16
#pragma keet in     X : f32[B][C][L] = normal(0.5, 1)
#pragma keet in     GAMMA : f32[C] = uniform(0.5, 1.5)
#pragma keet in     BETA : f32[C] = uniform(-1, 1)
#pragma keet out    Y : f32[B][C][L]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 8*B*C*L, bytes = 4*(2*B*C*L + 2*C)
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet temp   MEAN : f32[C]
#pragma keet temp   VAR : f32[C]
#pragma keet launch statistics<<<ceil_div(C, BLOCK), BLOCK>>>(X, MEAN, VAR, B, C, L)
#pragma keet launch normalise<<<ceil_div(B*C*L, BLOCK), BLOCK>>>(X, MEAN, VAR, GAMMA, BETA, Y, B*C*L, C, L)

__global__ void statistics(const float *X, float *mean, float *var, int batch, int channels, int l)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < channels) {
        float sum = 0;
        for (int b = 0; b < batch; b++)
            for (int i = 0; i < l; i++)
                sum += X[(b * channels + c) * l + i];
        float middle = sum / (batch * l);
        float squares = 0;
        for (int b = 0; b < batch; b++) {
            for (int i = 0; i < l; i++) {
                float d = X[(b * channels + c) * l + i] - middle;
                squares += d * d;
            }
        }
        mean[c] = middle;
        var[c] = squares / (batch * l);
    }
}

__global__ void normalise(const float *x, const float *mean, const float *var, const float *gamma,
    const float *beta, float *y, int n, int channels, int l)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = i / l % channels;
        float v = (x[i] - mean[c]) / sqrtf(var[c] + 1e-5f) * gamma[c] + beta[c];
        y[i] = fmaxf(v, 0.0f);
    }
}
