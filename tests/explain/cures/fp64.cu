// A polynomial in double precision of data in single precision. Cured: in single precision.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch polynomial<<<N / 256, 256>>>(X, Y)

#if CURED
typedef float real;
#else
typedef double real;
#endif

__global__ void polynomial(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    real x = X[i], a = x, b = x, c = x, d = x;
    for (int k = 0; k < 64; k++) {
        a = a * x + (real)0.5;
        b = b * x + (real)0.25;
        c = c * x + (real)0.125;
        d = d * x + (real)0.0625;
    }
    Y[i] = (float)(a + b + c + d);
}
