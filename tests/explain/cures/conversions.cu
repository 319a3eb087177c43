// Each step converts to an integer and back. Cured: it does not.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e6
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch steps<<<N / 256, 256>>>(X, Y)

__global__ void steps(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = X[i], y = 3 * x;
#pragma unroll 8
    for (int k = 0; k < 64; k++)
        y = (CURED ? y * x + 1.5f : (float)(int)(y * x + 1.5f)) * 1.25f;
    Y[i] = y;
}
