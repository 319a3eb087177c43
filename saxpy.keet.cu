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
#pragma keet launch saxpy<<<ceil_div(ceil_div(N, BLOCK), 2), BLOCK>>>(X, Y, alpha, N)

__global__ void saxpy(const float *x, float *y, float alpha, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (i + 1 < n) {
        float2 y4 = *reinterpret_cast<const float2 *>(&y[i]);
        float2 x4 = *reinterpret_cast<const float2 *>(&x[i]);
        {
            y4.x = alpha * x4.x + y4.x;
        }
        {
            y4.y = alpha * x4.y + y4.y;
        }
        *reinterpret_cast<float2 *>(&y[i]) = y4;
    } else {
        for (; i < n; i++) {
            y[i] = alpha * x[i] + y[i];
        }
    }
}
