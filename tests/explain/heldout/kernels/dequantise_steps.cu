// A filter in fixed point: the state is rounded to an integer after each step.
#pragma keet size   N = 1048576
#pragma keet check  N = 500
#pragma keet in     X : f32[N] = uniform(-100, 100)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1.5
#pragma keet work   flops = 64*N, bytes = 8*N
#pragma keet launch filter<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void filter(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int state = (int)X[i];
#pragma unroll 8
    for (int k = 0; k < 32; k++)
        state = (int)((float)state * 0.9375f + 8.0f);
    Y[i] = (float)state;
}
