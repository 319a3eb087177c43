// The factor is loaded again for every element, since the stores might change it.
#pragma keet size   N = 32768
#pragma keet check  N = 100
#pragma keet in     F : f32[1] = uniform(1, 2)
#pragma keet out    Y : f32[32*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 128*N
#pragma keet launch scale<<<ceil_div(N, 256), 256>>>(F, Y, N)

__global__ void scale(const float *F, float *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = i * 0.25f;
    for (int k = 0; k < 32; k++)
        Y[k * n + i] = x * F[0] + k;
}
