// One thread does as many rounds as its item asks for.
#pragma keet size   N = 262144, MOST = 256
#pragma keet check  N = 1000, MOST = 64
#pragma keet in     ROUNDS : i32[N] = integers(1, MOST)
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet launch rounds<<<ceil_div(N, BLOCK), BLOCK>>>(ROUNDS, X, Y, N)

__global__ void rounds(const int *most_of, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    int most = most_of[i];
    for (int k = 0; k < most; k++)
        v = v * (1.0f - v) * 3.5f;
    y[i] = v;
}
