#ifndef WIDTH
#define WIDTH 128
#endif
#pragma keet size   ROWS = 2048, COLS = 512
#pragma keet check  ROWS = 33, COLS = 65
#pragma keet in     A : f32[ROWS][COLS]
#pragma keet out    S : f32[ROWS]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet tune   WIDTH = 256 in {64, 128, 256}
#pragma keet launch sums<<<ceil_div(ROWS, WIDTH), WIDTH>>>(A, S, ROWS, COLS)


/* One row a thread. */
__global__ void sums(const float *a, float *s, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < cols; i++)
        sum += a[row * cols + i];
    s[row] = sum;
}

