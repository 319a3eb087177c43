// How many values are positive: every thread that sees one adds to the same counter.
#pragma keet size   N = 4194304
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet inout  count : i32[1] = constant(0)
#pragma keet work   flops = N, bytes = 4*N
#pragma keet launch positive<<<ceil_div(N, 512), 512>>>(X, count, N)

__global__ void positive(const float *__restrict__ X, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && X[i] > 0)
        atomicAdd(count, 1);
}
