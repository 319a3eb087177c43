// A sum for each block of 8192 elements.
#pragma keet size   N = 16777216
#pragma keet check  N = 16384
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N/8192]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch sums<<<N/8192, 256>>>(X, Y)

__global__ void sums(const float4 *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[8];
    int t = threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float4 x = X[blockIdx.x * 2048 + k * 256 + t];
        sum += x.x + x.y + x.z + x.w;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (t % 32 == 0)
        s[t / 32] = sum;
    __syncthreads();
    if (t == 0)
        Y[blockIdx.x] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}
