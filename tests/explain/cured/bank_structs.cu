// Structures of 17 words.
#pragma keet size   N = 1048576
#pragma keet check  N = 512
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 64*N, bytes = 8*N
#pragma keet launch fields<<<ceil_div(N, 128), 128>>>(X, Y, N)

struct cell { float field[17]; };
__global__ void fields(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    __shared__ cell cells[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float x = i < n ? X[i] : 0;
    for (int k = 0; k < 16; k++)
        cells[k * 8 + t / 16].field[t % 16] = x + k;
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int r = 0; r < 48; r++)
        sum += cells[(t + r) & 127].field[3];
    if (i < n)
        Y[i] = sum;
}
