// Each thread owns eight neighbouring elements.
#pragma keet size   N = 524288
#pragma keet check  N = 1024
#pragma keet in     X : f32[8*N] = uniform(-1, 1)
#pragma keet out    Y : f32[8*N]
#pragma keet work   flops = 8*N, bytes = 64*N
#pragma keet launch chunks<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void chunks(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
#pragma unroll 1
        for (int k = 0; k < 8; k++)
            Y[8 * i + k] = X[8 * i + k] + 1;
}
