// A warp walks each row of a sparse matrix; the rows' lengths come from the offsets.
#pragma keet size   ROWS = 32768, NNZ = 1048576
#pragma keet check  ROWS = 65, NNZ = 700
#pragma keet in     FIRST : i32[ROWS+1] = sorted(0, NNZ)
#pragma keet in     COL : i32[NNZ] = integers(0, ROWS-1)
#pragma keet in     VAL : f32[NNZ] = uniform(-1, 1)
#pragma keet in     X : f32[ROWS] = uniform(-1, 1)
#pragma keet out    Y : f32[ROWS]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch rows<<<ceil_div(ROWS*32, BLOCK), BLOCK>>>(FIRST, COL, VAL, X, Y, ROWS)

__global__ void rows(const int *first, const int *col, const float *val, const float *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= n)
        return;
    float sum = 0;
    for (int i = first[row] + lane; i < first[row + 1]; i += 32)
        sum += val[i] * x[col[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}
