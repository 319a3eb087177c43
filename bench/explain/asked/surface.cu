// Options are priced; the volatility comes from a table by two indices.
#pragma keet size   N = 1048576, STRIKES = 2048, DATES = 1024
#pragma keet check  N = 1000, STRIKES = 16, DATES = 8
#pragma keet in     I : i32[N] = integers(0, STRIKES-2)
#pragma keet in     J : i32[N] = integers(0, DATES-2)
#pragma keet in     SPOT : f32[N] = uniform(50, 150)
#pragma keet in     VOL : f32[DATES][STRIKES] = uniform(0.1, 0.4)
#pragma keet out    PRICE : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch price<<<ceil_div(N, BLOCK), BLOCK>>>(I, J, SPOT, VOL, PRICE, N, STRIKES)

__device__ float normal_cdf(float x)
{
    float t = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float p = expf(-0.5f * x * x) * 0.3989423f * t *
              (0.3193815f + t * (-0.3565638f + t * (1.781478f + t * (-1.821256f + t * 1.330274f))));
    return x > 0 ? 1.0f - p : p;
}

__global__ void price(const int *si, const int *sj, const float *spot, const float *vol, float *out, int n, int strikes)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    int i = si[k], j = sj[k];
    float v = 0.25f * (vol[j * strikes + i] + vol[j * strikes + i + 1] + vol[(j + 1) * strikes + i] +
                       vol[(j + 1) * strikes + i + 1]);
    float s = spot[k], t = 0.01f * (j + 1);
    float root = v * sqrtf(t);
    float d = (logf(s / 100.0f) + 0.5f * v * v * t) / root;
    out[k] = s * normal_cdf(d) - 100.0f * normal_cdf(d - root);
}
