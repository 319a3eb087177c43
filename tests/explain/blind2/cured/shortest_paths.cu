// One step of all shortest paths: the least sum over the middle, by tiles.
#pragma keet size   N = 512
#pragma keet check  N = 64
#pragma keet in     A : f32[N][N] = uniform(0, 1)
#pragma keet in     B : f32[N][N] = uniform(0, 1)
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch paths<<<dim3(N/32, N/32), dim3(16, 8)>>>(A, B, C, N)

__global__ void paths(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float a[32][33], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32, y = blockIdx.y * 32;
    float best[4][2];
    for (int j = 0; j < 8; j++)
        best[j / 2][j % 2] = 1e9f;
    for (int k = 0; k < n; k += 32) {
#pragma unroll
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 32; h += 16) {
                a[ty + 8 * j][tx + h] = A[(y + ty + 8 * j) * n + k + tx + h];
                b[ty + 8 * j][tx + h] = B[(k + ty + 8 * j) * n + x + tx + h];
            }
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 32; m++) {
            float b0 = b[m][tx], b1 = b[m][tx + 16];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float aa = a[ty + 8 * j][m];
                best[j][0] = fminf(best[j][0], aa + b0);
                best[j][1] = fminf(best[j][1], aa + b1);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        for (int h = 0; h < 2; h++)
            C[(y + ty + 8 * j) * n + x + tx + 16 * h] = best[j][h];
}
