// Escape times: lanes leave the loop one by one.
#pragma keet size   N = 524288
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-2, 1)
#pragma keet in     Z : f32[N] = uniform(-1, 1)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 512*N, bytes = 12*N
#pragma keet launch escape<<<ceil_div(N, 256), 256>>>(X, Z, Y, N)

__global__ void escape(const float *__restrict__ X, const float *__restrict__ Z, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float cx = X[i], cy = Z[i], x = 0, y = 0;
    int k = 0;
    while (k < 128 && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        k++;
    }
    Y[i] = k;
}
