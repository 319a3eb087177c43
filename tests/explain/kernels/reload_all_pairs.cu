// All pairs of points, each thread reading all the points.
#pragma keet size   N = 33792
#pragma keet check  N = 300
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = 6*N*2048, bytes = 8*N
#pragma keet launch pairs<<<ceil_div(N, 128), 128>>>(X, Y, N, min(N, 2048))

__global__ void pairs(const float *__restrict__ X, float *__restrict__ Y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], sum = 0;
    for (int k = 0; k < m; k++)
        sum += (x - X[k]) * (x - X[k]);
    Y[i] = sum;
}
