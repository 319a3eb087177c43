// The energy of each seismic trace, above its mean.
#pragma keet size   N = 4096, S = 2048
#pragma keet check  N = 64, S = 256
#pragma keet in     X : f32[N][S] = uniform(-1, 1)
#pragma keet out    E : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet launch energy<<<N/64, 64>>>(X, E, S)

__global__ void energy(const float *__restrict__ X, float *__restrict__ E, int s)
{
    int trace = blockIdx.x * 64 + threadIdx.x;
    const float *x = X + (long)trace * s;
    float sum = 0, squares = 0;
    for (int k = 0; k < s; k++) {
        float v = x[k];
        sum += v;
        squares += v * v;
    }
    E[trace] = squares - sum * sum / s;
}
