// More values than registers are allowed. Cured: as many registers as it takes.
#pragma keet size   N = 262144
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch mix<<<N / 256, 256>>>(X, Y)

__global__ void __launch_bounds__(256, CURED ? 4 : 8) mix(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float w[40], x = X[i], sum = 0;
#pragma unroll
    for (int k = 0; k < 40; k++)
        w[k] = x * k;
#pragma unroll 1
    for (int r = 0; r < 32; r++)
#pragma unroll
        for (int k = 0; k < 40; k++)
            w[k] = w[k] * x + w[(k * 7 + 5) % 40];
#pragma unroll
    for (int k = 0; k < 40; k++)
        sum += w[k];
    Y[i] = sum;
}
