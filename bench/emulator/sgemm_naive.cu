// Matrix product, one output per thread, all operands from global memory.
#pragma keet size   N = 320
#pragma keet in     A : f32[N][N]
#pragma keet in     B : f32[N][N]
#pragma keet out    C : f32[N][N]
#pragma keet launch sgemm<<<dim3(N/32, N/8), dim3(32, 8)>>>(A, B, C, N)

__global__ void sgemm(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}
