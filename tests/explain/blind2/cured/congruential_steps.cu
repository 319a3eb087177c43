// 400 steps of a generator of numbers from each seed.
#pragma keet size   N = 1081344
#pragma keet check  N = 1024
#pragma keet in     S : u32[N] = integers(0, 1000000)
#pragma keet out    R : u32[N]
#pragma keet launch numbers<<<N/256, 256>>>(S, R, 400)

__global__ void numbers(const unsigned *__restrict__ S, unsigned *__restrict__ R, int steps)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned s = S[i];
#pragma unroll 16
    for (int k = 0; k < steps; k++)
        s = s * 1664525u + 1013904223u;
    R[i] = s;
}
