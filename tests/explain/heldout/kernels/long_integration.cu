// 4096 trajectories, 512 steps each.
#pragma keet size   N = 4096
#pragma keet check  N = 100
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2048*N, bytes = 8*N
#pragma keet launch integrate<<<ceil_div(N, 512), 512>>>(X, Y, N)

__global__ void integrate(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], v = 0;
#pragma unroll 8
    for (int k = 0; k < 512; k++) {
        v -= 0.01f * x;
        x += 0.01f * v;
    }
    Y[i] = x;
}
