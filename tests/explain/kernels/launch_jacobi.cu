// Six sweeps over a small vector, each a launch.
#pragma keet size   N = 67584
#pragma keet check  N = 1000
#pragma keet inout  X : f32[4*N] = uniform(-1, 1)
#pragma keet inout  Y : f32[4*N] = uniform(-1, 1)
#pragma keet work   flops = 8*N, bytes = 64*N
#pragma keet launch sweep<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch sweep<<<ceil_div(N, 256), 256>>>(Y, X, N)
#pragma keet launch sweep<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch sweep<<<ceil_div(N, 256), 256>>>(Y, X, N)
#pragma keet launch sweep<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch sweep<<<ceil_div(N, 256), 256>>>(Y, X, N)

__global__ void sweep(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<const float4 *>(X)[i];
        reinterpret_cast<float4 *>(Y)[i] =
            make_float4(v.x * 0.5f, v.y * 0.5f, v.z * 0.5f, v.w * 0.5f);
    }
}
