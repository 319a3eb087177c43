// The sum is single.
#pragma keet size   N = 1048576
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 512*N, bytes = 8*N
#pragma keet launch series<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void series(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i] * 0.9f, term = 1, sum = 0;
#pragma unroll 16
    for (int k = 0; k < 256; k++) {
        sum += term;
        term *= x;
    }
    Y[i] = (float)sum;
}
