// A product straight from memory. Cured: tiles of 64 by 64 in shared memory, four by four results a thread.
#pragma keet size   N = 1024
#pragma keet check  N = 64
#pragma keet in     A : f32[N][N]
#pragma keet in     B : f32[N][N]
#pragma keet out    C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet tune   CURED = 0 in {0, 1}
#pragma keet launch product<<<dim3(N / (CURED ? 64 : 16), N / (CURED ? 64 : 16)), dim3(16, 16)>>>(A, B, C, N)

__global__ void product(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
#if CURED
    __shared__ float a[16][65], b[16][64];
    int t = threadIdx.y * 16 + threadIdx.x, x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 64 + threadIdx.y;
    float sum[4][4] = {{0}};
    for (int k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
        for (int r = 0; r < 4; r++) {
            a[t % 16][t / 16 + 16 * r] = A[(blockIdx.y * 64 + t / 16 + 16 * r) * n + k0 + t % 16];
            b[t / 64 + 4 * r][t % 64] = B[(k0 + t / 64 + 4 * r) * n + blockIdx.x * 64 + t % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float u[4], v[4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                u[r] = a[k][threadIdx.y + 16 * r];
                v[r] = b[k][threadIdx.x + 16 * r];
            }
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    sum[r][c] += u[r] * v[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            C[(y + 16 * r) * n + x + 16 * c] = sum[r][c];
#else
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[y * n + k] * B[k * n + x];
    C[y * n + x] = sum;
#endif
}
