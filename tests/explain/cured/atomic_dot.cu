// A block adds up its products first.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     A : f32[N] = uniform(0, 1)
#pragma keet in     B : f32[N] = uniform(0, 1)
#pragma keet inout  Y : f32[1] = constant(0)
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet work   flops = 2*N, bytes = 8*N
#pragma keet launch dot<<<ceil_div(N, 256), 256>>>(A, B, Y, N)

__global__ void dot(const float *__restrict__ A, const float *__restrict__ B, float *Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? A[i] * B[i] : 0;
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_xor_sync(~0u, x, d);
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, x);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(Y, sum);
}
