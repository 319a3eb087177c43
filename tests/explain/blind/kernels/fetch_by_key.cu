// Sums of the payloads that a join asks for, eight records each: a key of one word, eight words of payload.
#pragma keet size   N = 131072, R = 4194304
#pragma keet check  N = 500, R = 700
#pragma keet in     P : i32[8][N] = integers(0, R - 1)
#pragma keet in     T : i32[R][9] = integers(0, 1000000)
#pragma keet out    Y : i32[N][8]
#pragma keet work   flops = 64*N, bytes = 320*N
#pragma keet launch fetch<<<ceil_div(8*N, 256), 256>>>(P, T, Y, N)

__global__ void fetch(const int *__restrict__ P, const int *__restrict__ T, int *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 8 * n)
        return;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += T[P[k * n + i / 8] * 9 + 1 + i % 8];
    Y[i] = sum;
}
