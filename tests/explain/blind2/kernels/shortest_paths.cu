// One step of all shortest paths: the least sum over the middle, by tiles.
#pragma keet size   N = 512
#pragma keet check  N = 64
#pragma keet in     A : f32[N][N] = uniform(0, 1)
#pragma keet in     B : f32[N][N] = uniform(0, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch paths<<<dim3(N/32, N/32), dim3(32, 32)>>>(A, B, C, N)

__global__ void paths(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float a[32][33], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32, y = blockIdx.y * 32;
    float best = 1e9f;
    for (int k = 0; k < n; k += 32) {
        a[ty][tx] = A[(y + ty) * n + k + tx];
        b[ty][tx] = B[(k + ty) * n + x + tx];
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 32; m++)
            best = fminf(best, a[ty][m] + b[m][tx]);
        __syncthreads();
    }
    C[(y + ty) * n + x + tx] = best;
}
