// How often each pair of bases comes in a read of DNA: each thread has a read, and its counters in shared memory.
#pragma keet size   N = 67584
#pragma keet check  N = 1024
#pragma keet in     S : u32[16][N] = integers(0, 2147483647)
#pragma keet out    C : i32[N]
#pragma keet launch pairs<<<N/128, 128>>>(S, C, N)

__global__ void pairs(const unsigned *__restrict__ S, int *__restrict__ C, int n)
{
    __shared__ int count[16][128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    for (int k = 0; k < 16; k++)
        count[k][t] = 0;
#pragma unroll
    for (int w = 0; w < 16; w++) {
        unsigned s = S[w * n + i];
        for (int k = 0; k < 30; k += 2)
            count[s >> k & 15][t]++;
    }
    int most = 0;
    for (int k = 0; k < 16; k++)
        most = max(most, count[k][t] * 16 + k);
    C[i] = most;
}
