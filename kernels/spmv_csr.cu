// y = A x for a sparse f32 matrix in CSR form, one row per thread.
#pragma keet size   M = 32768, N = 32768, NNZ = 2097152
#pragma keet check  M = 131, N = 97, NNZ = 4001
#pragma keet check  M = 64, N = 256, NNZ = 1024
#pragma keet in     OFFSETS : i32[M+1] = sorted(0, NNZ)
#pragma keet in     COLUMNS : i32[NNZ] = integers(0, N-1)
#pragma keet in     VALUES : f32[NNZ] = uniform(-1, 1)
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[M]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 2*NNZ, bytes = 8*NNZ + 4*(2*M + N)
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet launch spmv_csr<<<ceil_div(M, BLOCK), BLOCK>>>(OFFSETS, COLUMNS, VALUES, X, Y, M)

__global__ void spmv_csr(const int *offsets, const int *columns, const float *values,
    const float *x, float *y, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m) {
        float sum = 0;
        for (int i = offsets[row]; i < offsets[row + 1]; i++)
            sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}
