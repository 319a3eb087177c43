// SELECT region, SUM(amount) GROUP BY region, with 64 regions.
#pragma keet size   N = 2097152
#pragma keet check  N = 3000
#pragma keet in     R : i32[N] = integers(0, 63)
#pragma keet in     A : i32[N] = integers(1, 500)
#pragma keet inout  S : i32[64] = constant(0)
#pragma keet work   flops = N, bytes = 8*N
#pragma keet launch group<<<528, 256>>>(R, A, S, N)

__global__ void group(const int *__restrict__ R, const int *__restrict__ A, int *__restrict__ S, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int region = R[i];
        atomicAdd(&S[region], A[i]);
    }
}
