// Every thread adds to one of 64 counters. Cured: it stores.
#pragma keet size   N = 1048576
#pragma keet check  N = 1024
#pragma keet in     X : i32[N] = integers(0, 63)
#pragma keet inout  Y : i32[N] = constant(0)
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch count<<<N / 256, 256>>>(X, Y)

__global__ void count(const int *__restrict__ X, int *Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
#if CURED
    Y[i] = X[i];
#else
    atomicAdd(&Y[X[i]], 1);
#endif
}
