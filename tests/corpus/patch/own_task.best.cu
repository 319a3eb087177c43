#ifndef WIDTH
#define WIDTH 128
#endif
#pragma keet size   ROWS = 2048, COLS = 512
#pragma keet check  ROWS = 33, COLS = 65
#pragma keet in     A : f32[ROWS][COLS]
#pragma keet out    S : f32[ROWS]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet tune   WIDTH = 128 in {64, 128, 256}
#pragma keet tune   WARPS = 4 in {1, 2, 4, 8}
#pragma keet where  WARPS*32 <= 1024
#pragma keet launch sums<<<ceil_div(ROWS, WARPS), dim3(32, WARPS)>>>(A, S, ROWS, COLS)


/* One row a warp. */
__global__ void sums(const float *a, float *s, int rows, int cols)
{
    int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 32)
        sum += a[row * cols + i];
    for (int delta = 16; delta > 0; delta /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, delta);
    if (threadIdx.x == 0)
        s[row] = sum;
}
