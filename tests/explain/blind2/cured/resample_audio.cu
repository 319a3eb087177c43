// Audio at another rate: 48 weights of a windowed sine, for phases that a list gives.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N+48] = uniform(-1, 1)
#pragma keet in     T : f32[48] = uniform(0.5, 3)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet launch resample<<<N/256, 256>>>(X, T, Y)

__global__ void resample(const float *__restrict__ X, const float *__restrict__ T, float *__restrict__ Y)
{
    __shared__ float x[304];
    int t = threadIdx.x, first = blockIdx.x * 256;
    for (int k = t; k < 304; k += 256)
        x[k] = X[first + k];
    __shared__ float w[48];
    if (t < 48)
        w[t] = __sinf(T[t]) / T[t] * __cosf(0.5f * T[t]);
    __syncthreads();
    float sum = 0;
#pragma unroll 16
    for (int k = 0; k < 48; k++)
        sum += x[t + k] * w[k];
    Y[first + t] = sum;
}
