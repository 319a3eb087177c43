// y = alpha x + y for f32 vectors, one element per thread.
#pragma keet size   N = 8388608
#pragma keet check  N = 4099
#pragma keet check  N = 31
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet inout  Y : f32[N] = uniform(-1, 1)
#pragma keet scalar alpha : f32 = 2.5
#pragma keet tolerance rel = 1e-5, abs = 1e-6
#pragma keet work   flops = 2*N, bytes = 12*N
#pragma keet tune   BLOCK = 128 in {64, 128, 256, 512}
#pragma keet launch saxpy<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, alpha, N)

__global__ void saxpy(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i] + y[i];
}
