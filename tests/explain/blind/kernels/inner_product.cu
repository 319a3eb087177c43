// The inner product of two long vectors; blocks add their parts to one number.
#pragma keet size   N = 34603008
#pragma keet check  N = 65536
#pragma keet in     A : f32[N] = uniform(-1, 1)
#pragma keet in     B : f32[N] = uniform(-1, 1)
#pragma keet inout  S : f32[] = constant(0)
#pragma keet tolerance rel = 1e-3, abs = 1
#pragma keet work   flops = 2*N, bytes = 8*N
#pragma keet launch product<<<1056, 256>>>(A, B, S, N/4)

__global__ void product(const float4 *__restrict__ A, const float4 *__restrict__ B, float *S, int n)
{
    __shared__ float part[8];
    int t = threadIdx.x, stride = gridDim.x * blockDim.x;
    float sum = 0;
#pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += stride) {
        float4 a = A[i], b = B[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
#pragma unroll
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads();
    if (t < 8) {
        sum = part[t];
#pragma unroll
        for (int d = 4; d; d /= 2)
            sum += __shfl_down_sync(0xff, sum, d);
        if (t == 0)
            atomicAdd(S, sum);
    }
}
