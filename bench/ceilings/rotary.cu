// Rotary position embedding of f32 heads [token][head][E]: the pair (i, i + E/2) of a token is turned by
// token * 10000^(-2i/E) radians. One pair per thread, angles computed on the spot.
#pragma keet size   T = 2048, H = 16, E = 64
#pragma keet check  T = 37, H = 3, E = 18
#pragma keet check  T = 16, H = 2, E = 64
#pragma keet in     X : f32[T][H][E] = uniform(-1, 1)
#pragma keet out    Y : f32[T][H][E]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 6*T*H*E, bytes = 8*T*H*E
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet tune   BLOCKS = 2112 in {264, 528, 1056, 2112}
#pragma keet launch rotary<<<min(ceil_div(T*H*(E/2), BLOCK), BLOCKS), BLOCK>>>(X, Y, T*H*(E/2), H, E)

__global__ void rotary(const float *__restrict__ X, float *__restrict__ Y, int pairs, int heads, int e)
{
    #pragma unroll 4
    for (int pair = blockIdx.x * blockDim.x + threadIdx.x; pair < pairs; pair += gridDim.x * blockDim.x) {
        int i = pair % (e / 2);
        int row = pair / (e / 2);
        float angle = row / heads * __powf(10000.0f, __fdividef(-2.0f * i, e));
        float a = X[row * e + i];
        float b = X[row * e + i + e / 2];
        Y[row * e + i] = a * cosf(angle) - b * sinf(angle);
        Y[row * e + i + e / 2] = b * cosf(angle) + a * sinf(angle);
    }
}
