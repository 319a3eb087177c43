// Y = alpha X, element by element: the original of the planted faults that concern single accesses.
#pragma keet size   N = 1048576
#pragma keet check  N = 1001
#pragma keet check  N = 256
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet scalar alpha : f32 = 1.5
#pragma keet tolerance rel = 1e-5, abs = 1e-6
#pragma keet work   flops = N, bytes = 8*N
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
