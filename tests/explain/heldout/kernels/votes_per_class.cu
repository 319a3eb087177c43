// Votes of 16 classes, summed in global memory.
#pragma keet size   N = 2097152
#pragma keet check  N = 777
#pragma keet in     cls : i32[N] = integers(0, 15)
#pragma keet in     weight : f32[N] = uniform(0, 1)
#pragma keet inout  votes : f32[16] = constant(0)
#pragma keet tolerance rel = 1e-3, abs = 1e-1
#pragma keet work   flops = N, bytes = 8*N
#pragma keet launch vote<<<ceil_div(N, 256), 256>>>(cls, weight, votes, N)

__global__ void vote(const int *__restrict__ cls, const float *__restrict__ weight, float *votes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomicAdd(&votes[cls[i]], weight[i]);
}
