// Tokens of 16 heads become heads of tokens.
#pragma keet size   S = 8192
#pragma keet check  S = 256
#pragma keet in     X : f32[S][1024] = uniform(-1, 1)
#pragma keet out    Y : f32[16][S][64]
#pragma keet launch split<<<dim3(S/64, 16), 256>>>(X, Y, S)

__global__ void split(const float *__restrict__ X, float *__restrict__ Y, int s)
{
    int head = blockIdx.y, first = blockIdx.x * 64;
    int token = first + threadIdx.x % 64;
#pragma unroll 4
    for (int d = threadIdx.x / 64 * 16; d < threadIdx.x / 64 * 16 + 16; d++)
        Y[(head * s + token) * 64 + d] = X[token * 1024 + head * 64 + d];
}
