// Changes signs in place.
#pragma keet size   N = 6291456
#pragma keet check  N = 1000
#pragma keet inout  Y : f32[4*N] = uniform(-1, 1)
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 4*N, bytes = 32*N
#pragma keet launch go<<<ceil_div(N, 256), 256>>>(Y, N)

__global__ void go(float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = Y[i];
    Y[i] = make_float4(-v.x, -v.y, -v.z, -v.w);
}
