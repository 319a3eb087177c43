// One block more than SMs, for one block an SM. Cured: blocks of a sixteenth of the work.
#pragma keet size   N = 136192
#pragma keet check  N = 2048
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch iterate<<<CURED ? N / 64 : N / 1024, CURED ? 64 : 1024>>>(X, Y)

__global__ void iterate(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[CURED ? 700 : 12000];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = X[i], y = x;
    s[threadIdx.x] = x;
#pragma unroll 16
    for (int k = 0; k < 8192; k++)
        y = y * x + 0.5f;
    Y[i] = y + s[threadIdx.x];
}
