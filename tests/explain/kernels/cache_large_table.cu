// Every warp reads lines of a table larger than L1, again and again.
#pragma keet size   N = 1081344
#pragma keet check  N = 1024
#pragma keet in     X : f32[131072] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 3*N, bytes = 4*N + 524288
#pragma keet launch lookup<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void lookup(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int warp = i / 32, lane = i % 32;
    float4 v = reinterpret_cast<const float4 *>(X)[((warp * 40503) & 1023) * 32 + lane];
    Y[i] = v.x + v.y + v.z + v.w;
}
