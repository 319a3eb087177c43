// Small vectors that are permuted by an index read from memory.
#pragma keet size   N = 262144
#pragma keet check  N = 1024
#pragma keet in     X : f32[N*8] = uniform(-1, 1)
#pragma keet in     P : i32[N*8] = integers(0, 8)
#pragma keet out    Y : f32[N*8]
#pragma keet work   flops = 8*N, bytes = 96*N
#pragma keet launch permute<<<ceil_div(N, 128), 128>>>(X, P, Y, N)

__global__ void permute(const float *__restrict__ X, const int *__restrict__ P, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v[8];
    for (int k = 0; k < 8; k++)
        v[k] = X[k * n + i];
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 8; k++)
            v[P[k * n + i] & 7] += v[(P[k * n + i] + r) & 7];
    for (int k = 0; k < 8; k++)
        Y[k * n + i] = v[k];
}
