// Option prices: logarithm, exponential, square root, error function, division.
#pragma keet size   N = 524288
#pragma keet in     S : f32[N] = uniform(5, 30)
#pragma keet in     K : f32[N] = uniform(1, 100)
#pragma keet in     T : f32[N] = uniform(0.25, 10)
#pragma keet out    C : f32[N]
#pragma keet out    P : f32[N]
#pragma keet launch black_scholes<<<N/128, 128>>>(S, K, T, C, P)

__device__ float normal(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

__global__ void black_scholes(const float *S, const float *K, const float *T, float *C, float *P)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = S[i], k = K[i], t = T[i], r = 0.02f, v = 0.3f, root = sqrtf(t);
    float d1 = (logf(s / k) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
    float worth = k * expf(-r * t), call = s * normal(d1) - worth * normal(d2);
    C[i] = call;
    P[i] = call + worth - s;
}
