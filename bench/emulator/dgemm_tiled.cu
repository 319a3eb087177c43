// f64 matrix product through 16 x 16 tiles in shared memory.
#pragma keet size   N = 256
#pragma keet in     A : f64[N][N]
#pragma keet in     B : f64[N][N]
#pragma keet out    C : f64[N][N]
#pragma keet launch dgemm<<<dim3(N/16, N/16), dim3(16, 16)>>>(A, B, C, N)

__global__ void dgemm(const double *A, const double *B, double *C, int n)
{
    __shared__ double a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    double sum = 0;
    for (int t = 0; t < n; t += 16) {
        a[y][x] = A[row * n + t + x];
        b[y][x] = B[(t + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
