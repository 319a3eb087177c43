// A walk through shared memory, four warps an SM. Cured: eight walks at a time, of an eighth of the steps.
#pragma keet size   N = 16896
#pragma keet check  N = 256
#pragma keet in     X : i32[N] = integers(0, 127)
#pragma keet out    Y : i32[N]
#pragma keet tolerance rel = 0, abs = 1000000
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch walk<<<N / 128, 128>>>(X, Y)

__global__ void walk(const int *__restrict__ X, int *__restrict__ Y)
{
    const int nr = CURED ? 8 : 1;
    __shared__ int next[128];
    int i = blockIdx.x * 128 + threadIdx.x, at[nr], sum = 0;
    next[threadIdx.x] = X[i];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < nr; j++)
        at[j] = (threadIdx.x + j) % 128;
#pragma unroll 4
    for (int k = 0; k < 1024 / nr; k++) {
#pragma unroll
        for (int j = 0; j < nr; j++)
            at[j] = next[at[j]];
    }
#pragma unroll
    for (int j = 0; j < nr; j++)
        sum += at[j];
    Y[i] = sum;
}
