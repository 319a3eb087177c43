// Matrix times vector, one row per thread.
#pragma keet tune   BLOCK = 64 in {32, 64, 128, 256}
#pragma keet launch product<<<ceil_div(M, BLOCK), BLOCK>>>(A, B, y, M, K)

__global__ void product(const float *A, const float *x, float *y, int M, int K)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * x[k];
        y[row] = sum;
    }
}
