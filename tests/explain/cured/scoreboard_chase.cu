// The table holds where two steps lead: half the trips.
#pragma keet size   N = 33792
#pragma keet check  N = 1024
#pragma keet in     X : i32[1024] = iota(0, 1)
#pragma keet out    Y : i32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 512*N, bytes = 4*N
#pragma keet launch walk<<<N/128, 128>>>(X, Y)

__global__ void walk(const int *__restrict__ X, int *__restrict__ Y)
{
    __shared__ int next[1024], next2[1024];
    for (int k = threadIdx.x; k < 1024; k += 128)
        next[k] = (X[k] * 5 + 17) & 1023;
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 128)
        next2[k] = next[next[k]];
    __syncthreads();
    int at = threadIdx.x;
    for (int k = 0; k < 256; k++)
        at = next2[at];
    Y[blockIdx.x * 128 + threadIdx.x] = at;
}
