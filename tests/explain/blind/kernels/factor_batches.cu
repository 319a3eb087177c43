// Cholesky factors of a batch of 32x32 matrices; the diagonal is raised by 40 first.
#pragma keet size   N = 4224
#pragma keet check  N = 16
#pragma keet in     A : f32[N][32][32] = uniform(-1, 1)
#pragma keet out    L : f32[N][32][32]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 32*32*32*N/3, bytes = 8*1024*N
#pragma keet launch factor<<<N, dim3(32, 32)>>>(A, L)

__global__ void factor(const float *__restrict__ A, float *__restrict__ L)
{
    __shared__ float a[32][33];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.x * 32 + y) * 32 + x;
    a[y][x] = A[at] + (x == y ? 40.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        if (x == k && y == k)
            a[k][k] = sqrtf(a[k][k]);
        __syncthreads();
        if (x == k && y > k)
            a[y][k] /= a[k][k];
        __syncthreads();
        if (x > k && y >= x)
            a[y][x] -= a[y][k] * a[x][k];
        __syncthreads();
    }
    L[at] = x <= y ? a[y][x] : 0.0f;
}
