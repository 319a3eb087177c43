// The mean embedding of each of 16 sequences.
#pragma keet size   B = 16, T = 2048, D = 512
#pragma keet check  B = 2, T = 64, D = 32
#pragma keet in     X : f32[B][T][D] = uniform(-1, 1)
#pragma keet out    Y : f32[B][D]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = B*T*D, bytes = 4*B*(T*D + D)
#pragma keet launch pool<<<B, D>>>(X, Y, T, D)

__global__ void pool(const float *__restrict__ X, float *__restrict__ Y, int tokens, int d)
{
    const float *x = X + (size_t)blockIdx.x * tokens * d + threadIdx.x;
    float sum = 0;
#pragma unroll 16
    for (int t = 0; t < tokens; t++)
        sum += x[t * d];
    Y[blockIdx.x * d + threadIdx.x] = sum / tokens;
}
