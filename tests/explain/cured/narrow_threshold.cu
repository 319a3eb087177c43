// Sixteen bytes at a time.
#pragma keet size   N = 8388608
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : u8[N]
#pragma keet work   flops = N, bytes = 5*N
#pragma keet launch above<<<ceil_div(N, 1024), 256>>>(X, Y, N)

__global__ void above(const float4 *__restrict__ X, uchar4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n)
        Y[i] = make_uchar4(X[i].x > 0.5f, X[i].y > 0.5f, X[i].z > 0.5f, X[i].w > 0.5f);
}
