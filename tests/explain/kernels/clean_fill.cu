// A constant written everywhere.
#pragma keet size   N = 16777216
#pragma keet check  N = 1024
#pragma keet out    Y : f32[4*N]
#pragma keet work   flops = 0, bytes = 16*N
#pragma keet launch fill<<<ceil_div(N, 256), 256>>>(Y, N)

__global__ void fill(float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        Y[i] = make_float4(1, 2, 3, 4);
}
