// All lanes take the same way, with constants of their own.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch odd<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void odd(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = X[i];
    int lane = threadIdx.x % 4;
    float factor = lane == 3 ? 1 : 0.99f - 0.01f * lane, more = lane == 3 ? 0 : lane == 0 ? 0.01f : -0.01f * lane;
#pragma unroll 8
    for (int k = 0; k < 128; k++)
        v = v * factor + more;
    Y[i] = v;
}
