// A division a step. Cured: a multiplication.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(1, 2)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch steps<<<N / 256, 256>>>(X, Y)

__global__ void steps(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = X[i], a = x, b = x + 1;
#pragma unroll 8
    for (int k = 0; k < 32; k++) {
        a = CURED ? (a + 1) * x : __fdividef(a + 1, x);
        b = CURED ? (b + 1) * x : __fdividef(b + 1, x);
    }
    Y[i] = a + b;
}
