// codebook_rows with the four rows of a warp beside those of its neighbours, in L1 and L2. // other layout
#pragma keet size   N = 262144
#pragma keet check  N = 64
#pragma keet in     book : f32[524288][32] = uniform(-1, 1)
#pragma keet out    Y : f32[N][32]
#pragma keet work   flops = 0*N, bytes = 256*N
#pragma keet launch copy_rows<<<ceil_div(N, 8), 256>>>(book, Y, N)

__global__ void copy_rows(const float *__restrict__ book, float *__restrict__ Y, int n)
{
    unsigned row = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += book[(size_t)((row / 64 * 4 + k) % 16384u) * 32 + lane];
    Y[row * 32 + lane] = sum;
}
