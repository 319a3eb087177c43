// The height of the tide at N times, a sum of 32 harmonics.
#pragma keet size   N = 1081344
#pragma keet check  N = 1000
#pragma keet in     T : f32[N] = uniform(0, 3)
#pragma keet in     A : f32[32][2] = uniform(-1, 1)
#pragma keet out    Z : f32[N]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 32*6*N, bytes = 8*N
#pragma keet launch heights<<<ceil_div(N, 256), 256>>>(T, A, Z, N)

__global__ void heights(const float *__restrict__ T, const float *__restrict__ A, float *__restrict__ Z, int n)
{
    __shared__ float2 a[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 32)
        a[threadIdx.x] = ((const float2 *)A)[threadIdx.x];
    __syncthreads();
    if (i >= n)
        return;
    float t = T[i], sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        sum += a[k].x * __cosf((k + 1) * t) + a[k].y * __sinf((k + 1) * t);
    Z[i] = sum;
}
