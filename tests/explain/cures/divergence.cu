// Odd lanes and even lanes go different ways. Cured: warps do.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch ways<<<N / 256, 256>>>(X, Y)

__global__ void ways(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = X[i], y = x;
    if (CURED ? threadIdx.x / 32 % 2 : threadIdx.x % 2) {
#pragma unroll 8
        for (int k = 0; k < 64; k++)
            y = y * x + 0.5f;
    } else {
#pragma unroll 8
        for (int k = 0; k < 64; k++)
            y = x - y * 0.25f;
    }
    Y[i] = y;
}
