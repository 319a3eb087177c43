// A loop whose body is one addition, and addresses computed with 64 bits.
#pragma keet size   N = 262144
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 256*N, bytes = 8*N
#pragma keet launch steps<<<ceil_div(N, 256), 256>>>(X, Y, N, 256)

__global__ void steps(const float *__restrict__ X, float *__restrict__ Y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = X[i], y = 0;
#pragma unroll 1
    for (long k = 0; k < m; k++) {
        long h = (k * 2654435761L) ^ (k >> 3) ^ i;
        y += (h & 64) ? x : 1.0f;
    }
    Y[i] = y;
}
