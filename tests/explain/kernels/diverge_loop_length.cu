// The number of iterations comes from the data.
#pragma keet size   N = 524288
#pragma keet check  N = 1000
#pragma keet in     X : i32[N] = integers(0, 256)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch lengths<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void lengths(const int *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int most = X[i] & 7 ? 8 : 256;
    float v = (float)X[i];
#pragma unroll 1
    for (int k = 0; k < most; k++) {
        v = v * 0.99f + 0.01f;
        v = v * 0.98f + 0.02f;
        v = v * 0.97f + 0.03f;
        v = v * 0.96f + 0.04f;
        v = v * 0.95f + 0.05f;
        v = v * 0.94f + 0.06f;
    }
    Y[i] = v;
}
