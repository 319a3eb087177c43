// Three weights per thread, loaded again in every round, since the stores might change them.
#pragma keet size   N = 65536
#pragma keet check  N = 1000
#pragma keet in     W : f32[3*N] = uniform(-1, 1)
#pragma keet out    Y : f32[16*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 76*N
#pragma keet launch steps<<<ceil_div(N, 256), 256>>>(W, Y, N)

__global__ void steps(const float *W, float *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 16; k++)
        Y[k * n + i] = (W[i] * k + W[n + i]) * k + W[2 * n + i];
}
