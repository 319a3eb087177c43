// A dot product in which every product goes to memory by itself.
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
    if (i < n)
        atomicAdd(Y, A[i] * B[i]);
}
