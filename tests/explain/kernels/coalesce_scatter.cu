// A scatter with a stride.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet work   flops = 0, bytes = 8*N
#pragma keet launch scatter<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void scatter(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int rows = n / 32;
    if (i < rows * 32)
        Y[(i % 32) * rows + i / 32] = X[i];
}
