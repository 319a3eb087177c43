// One where the input is positive.
#pragma keet size   N = 6291456
#pragma keet check  N = 1000
#pragma keet in     X : f32[4*N] = uniform(-1, 1)
#pragma keet out    Y : f32[4*N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 4*N, bytes = 32*N
#pragma keet launch go<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void go(const float4 *__restrict__ X, float4 *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = X[i];
    Y[i] = make_float4(v.x > 0, v.y > 0, v.z > 0, v.w > 0);
}
