// Two long polynomials by Horner's rule.
#pragma keet size   N = 1081344
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 4096*N, bytes = 8*N
#pragma keet launch iterate<<<ceil_div(N, 256), 256>>>(X, Y, N)

__global__ void iterate(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], y = 0, z = 1;
#pragma unroll 32
    for (int k = 0; k < 1024; k++) {
        y = y * x + 0.5f;
        z = z * x - 0.5f;
    }
    Y[i] = y + z;
}
