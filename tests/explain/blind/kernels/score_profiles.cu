// Scores of users: the sum of the rows of the items that each user has seen, one warp per user.
#pragma keet size   N = 65536, R = 786432
#pragma keet check  N = 40, R = 500
#pragma keet in     I : i32[N][32] = integers(0, R - 1)
#pragma keet in     E : f32[R][32] = uniform(-1, 1)
#pragma keet out    Y : f32[N][32]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 32*32*N, bytes = 4*(64*N + 32*R)
#pragma keet launch profile<<<N/8, 256>>>(I, E, Y)

__global__ void profile(const int *__restrict__ I, const float *__restrict__ E, float *__restrict__ Y)
{
    int user = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    int item = I[user * 32 + lane];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        sum += E[(size_t)__shfl_sync(~0u, item, k) * 32 + lane];
    Y[user * 32 + lane] = sum;
}
