// Eight weights per thread, loaded again in every round, since the stores might change them.
#pragma keet size   N = 65536
#pragma keet check  N = 1000
#pragma keet in     W : f32[8*N] = uniform(-1, 1)
#pragma keet out    Y : u8[64*N]
#pragma keet work   flops = 1024*N, bytes = 96*N
#pragma keet launch steps<<<ceil_div(N, 256), 256>>>(W, Y, N)

__global__ void steps(const float *W, unsigned char *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 64; k++) {
        float x = k * 0.015f;
        float y = (((W[i] * x + W[n + i]) * x + W[2 * n + i]) * x + W[3 * n + i]) * x + W[4 * n + i];
        Y[k * n + i] = ((y * x + W[5 * n + i]) * x + W[6 * n + i]) * x > W[7 * n + i];
    }
}
