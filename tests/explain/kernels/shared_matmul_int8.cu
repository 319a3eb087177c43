// A tiled product of bytes, four to a word: two loads from shared memory for each dp4a, which is the work.
#pragma keet size   N = 1024
#pragma keet check  N = 128
#pragma keet in     A : i32[N][N/4] = integers(0, 1000000)
#pragma keet in     B : i32[N/4][N] = integers(0, 1000000)
#pragma keet out    C : i32[N][N]
#pragma keet launch matmul<<<dim3(N/32, N/32), dim3(32, 32)>>>(A, B, C, N, N/4)

__global__ void matmul(const int *__restrict__ A, const int *__restrict__ B, int *__restrict__ C, int n, int words)
{
    __shared__ int a[32][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    int sum = 0;
    for (int k = 0; k < words; k += 32) {
        a[ty][tx] = A[y * words + k + tx];
        b[ty][tx] = B[(k + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j++)
            sum = __dp4a(a[ty][j], b[j][tx], sum);
        __syncthreads();
    }
    C[y * n + x] = sum;
}
