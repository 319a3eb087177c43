// y = a x + y, four bytes at a time.
#pragma keet size   N = 8388608
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet inout  Y : f32[N] = uniform(-1, 1)
#pragma keet work   flops = 2*N, bytes = 12*N
#pragma keet launch saxpy<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void saxpy(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        Y[i] = 2.5f * X[i] + Y[i];
}
