// Tokens of 16 heads become heads of tokens.
#pragma keet size   S = 8192
#pragma keet check  S = 256
#pragma keet in     X : f32[S][1024] = uniform(-1, 1)
#pragma keet out    Y : f32[16][S][64]
#pragma keet launch split<<<dim3(S/64, 16), 256>>>(X, Y, S)

__global__ void split(const float *__restrict__ X, float *__restrict__ Y, int s)
{
    int head = blockIdx.y, first = blockIdx.x * 64;
    int d = threadIdx.x % 16 * 4;
#pragma unroll
    for (int k = threadIdx.x / 16; k < 64; k += 16)
        *(float4 *)&Y[(head * s + first + k) * 64 + d] = *(const float4 *)&X[(first + k) * 1024 + head * 64 + d];
}
