// Matrix product with 64 x 64 tiles in shared memory and 4 x 4 outputs per thread.
#pragma keet size   N = 384
#pragma keet in     A : f32[N][N]
#pragma keet in     B : f32[N][N]
#pragma keet out    C : f32[N][N]
#pragma keet launch sgemm<<<dim3(N/64, N/64), 256>>>(A, B, C, N)

__global__ void sgemm(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[8][64], b[8][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[4][4] = {};
    A += blockIdx.y * 64 * n;
    B += blockIdx.x * 64;
    for (int k0 = 0; k0 < n; k0 += 8) {
        for (int i = t; i < 512; i += 256) {
            a[i % 8][i / 8] = A[i / 8 * n + k0 + i % 8];
            b[i / 64][i % 64] = B[(k0 + i / 64) * n + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            float x[4], y[4];
            for (int i = 0; i < 4; i++) {
                y[i] = a[k][ty * 4 + i];
                x[i] = b[k][tx * 4 + i];
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += y[i] * x[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            C[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4 + j] = sum[i][j];
}
