// Index of the largest element of each row of an f32 matrix (the first one of equals). One row per thread.
#pragma keet size   ROWS = 8192, COLS = 1024
#pragma keet check  ROWS = 67, COLS = 131
#pragma keet check  ROWS = 32, COLS = 64
#pragma keet check  ROWS = 5, COLS = 1
#pragma keet in     X : f32[ROWS][COLS] = uniform(-10, 10)
#pragma keet out    INDEX : i32[ROWS]
#pragma keet work   flops = ROWS*COLS, bytes = 4*(ROWS*COLS + ROWS)
#pragma keet tune   BLOCK = 64 in {32, 64, 128, 256}
#pragma keet launch argmax<<<ceil_div(32*ROWS, BLOCK), BLOCK>>>(X, INDEX, ROWS, COLS)

__global__ void __launch_bounds__(BLOCK) argmax(const float *X, int *index, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float best = X[row * cols];
        int where = 0;
        #pragma unroll 2
        for (int i = 1 + lane; i < cols; i += 32) {
            if (X[row * cols + i] > best) {
                best = X[row * cols + i];
                where = i;
            }
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            float other = __shfl_xor_sync(0xffffffff, best, offset);
            int other_where = __shfl_xor_sync(0xffffffff, where, offset);
            if (other > best || (other == best && other_where < where)) {
                best = other;
                where = other_where;
            }
        }
        if (lane == 0)
            index[row] = where;
    }
}
