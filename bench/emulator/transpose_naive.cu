// Transpose: reads along rows, writes along columns.
#pragma keet size   N = 1024
#pragma keet in     A : f32[N][N]
#pragma keet out    B : f32[N][N]
#pragma keet launch transpose<<<dim3(N/32, N/32), dim3(32, 8)>>>(A, B, N)

__global__ void transpose(const float *A, float *B, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int j = 0; j < 32; j += 8) {
        int y = blockIdx.y * 32 + threadIdx.y + j;
        B[x * n + y] = A[y * n + x];
    }
}
