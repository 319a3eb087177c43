// The same 16 KB of a large array are read 64 times by each thread, and a larger output is written.
#pragma keet size   N = 65536
#pragma keet check  N = 4096
#pragma keet in     X : f32[4096 + N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch sums<<<N / 256, 256>>>(X, Y)

__global__ void sums(const float *__restrict__ X, float *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = 0;
#pragma unroll 4
    for (int k = 0; k < 64; k++)
        v += X[i + k * 32 & 4095];
    Y[i] = v;
}
