// other layout: the field alone in an array.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet work   flops = N, bytes = 8*N
#pragma keet launch field<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void field(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        Y[i] = 2 * X[i];
}
