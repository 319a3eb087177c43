// Black-Scholes prices of European calls.
#pragma keet size   N = 524288
#pragma keet check  N = 777
#pragma keet in     S : f32[N] = uniform(5, 30)
#pragma keet in     K : f32[N] = uniform(1, 100)
#pragma keet in     T : f32[N] = uniform(0.25, 10)
#pragma keet out    C : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 60*N, bytes = 16*N
#pragma keet launch price<<<ceil_div(N, 256), 256>>>(S, K, T, C, N)

__global__ void price(const float *__restrict__ S, const float *__restrict__ K, const float *__restrict__ T,
    float *__restrict__ C, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = S[i], k = K[i], t = T[i];
    float root = 0.3 * sqrtf(t);
    float d1 = (log(s / (double)k) + (0.02 + 0.5 * 0.3 * 0.3) * t) / root;
    float d2 = d1 - root;
    float n1 = 0.5 * erfc(-0.70710678118654752 * d1);
    float n2 = 0.5 * erfc(-0.70710678118654752 * d2);
    C[i] = s * n1 - k * exp(-0.02 * t) * n2;
}
