// other layout: the header takes a sector.
#pragma keet size   N = 2097152
#pragma keet check  N = 1024
#pragma keet in     X : f32[8*N+8] = uniform(-1, 1)
#pragma keet in     P : i32[N] = permutation()
#pragma keet out    Y : f32[N/4]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 8*N, bytes = 37*N
#pragma keet launch sums<<<N/128, 256>>>(X, P, Y, N/4)

__global__ void sums(const float *__restrict__ X, const int *__restrict__ P, float *__restrict__ Y, int n)
{
    const float *records = X + 8;
    int i = blockIdx.x * 32 + threadIdx.x / 8, lane = threadIdx.x % 8;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum += records[P[k * n + i] * 8 + lane];
    for (int d = 4; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        Y[i] = sum;
}
