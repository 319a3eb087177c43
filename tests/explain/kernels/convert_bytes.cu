// Four bytes unpacked to floats in the inner loop again and again.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : u32[N] = integers(0, 1000000)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 512*N, bytes = 8*N
#pragma keet launch unpack<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void unpack(const unsigned *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = X[i];
    float y = 0;
#pragma unroll 8
    for (int k = 0; k < 128; k++) {
        y = y * 0.25f + 0.5f * (float)x;
        x = (unsigned)y;
    }
    Y[i] = y;
}
