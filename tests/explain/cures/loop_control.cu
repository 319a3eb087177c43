// A loop of one multiplication. Cured: 64 a round.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch logistic<<<N / 256, 256>>>(X, Y)

__global__ void logistic(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = X[i], y = x;
#if CURED
#pragma unroll 64
#else
#pragma unroll 1
#endif
    for (int k = 0; k < 256; k++)
        y = y * x + 0.5f;
    Y[i] = y;
}
