// Sparse matrix times vector, one row per warp.
#pragma keet size   M = 16384, NNZ = 1048576
#pragma keet in     OFFSETS : i32[M+1] = sorted(0, NNZ)
#pragma keet in     COLUMNS : i32[NNZ] = integers(0, M-1)
#pragma keet in     VALUES : f32[NNZ]
#pragma keet in     X : f32[M]
#pragma keet out    Y : f32[M]
#pragma keet launch spmv<<<M/8, 256>>>(OFFSETS, COLUMNS, VALUES, X, Y)

__global__ void spmv(const int *offsets, const int *columns, const float *values, const float *x, float *y)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = offsets[row] + lane; i < offsets[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}
