// Tridiagonal systems of 32 unknowns with constant coefficients.
#pragma keet size   N = 65536
#pragma keet check  N = 256
#pragma keet in     D : f32[N][32] = uniform(-1, 1)
#pragma keet in     C : f32[32] = uniform(0.2, 0.3)
#pragma keet out    X : f32[N][32]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 5*32*N, bytes = 256*N
#pragma keet launch solve<<<N/64, 64>>>(D, C, X)

__global__ void solve(const float *__restrict__ D, const float *__restrict__ C, float *__restrict__ X)
{
    __shared__ float d[64][32];
    __shared__ float c[32];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * 2048;
    if (t < 32)
        c[t] = C[t];
#pragma unroll 8
    for (int k = t; k < 2048; k += 64)
        d[k / 32][k % 32] = D[base + k];
    __syncthreads();
    float before = 0;
    for (int k = 0; k < 32; k++) {
        before = (d[t][k] - 0.25f * before) * (1.0f + c[k]);
        d[t][k] = before;
    }
    for (int k = 30; k >= 0; k--) {
        before = d[t][k] - c[k] * before;
        d[t][k] = before;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = t; k < 2048; k += 64)
        X[base + k] = d[k / 32][k % 32];
}
