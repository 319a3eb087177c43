// A diagonal matrix, given as a vector, times a matrix.
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch scale_rows<<<dim3(ceil_div(M, BLOCK), N), BLOCK>>>(A, B, y, M)

__global__ void scale_rows(const float *A, const float *B, float *C, int cols)
{
    int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < cols)
        C[row * cols + col] = A[row] * B[row * cols + col];
}
