// Transpose through a tile in shared memory, read along its columns: 32 words in one bank.
#pragma keet size   ROWS = 4096, COLS = 4096
#pragma keet check  ROWS = 64, COLS = 160
#pragma keet in     IN : f32[ROWS][COLS] = uniform(-1, 1)
#pragma keet out    OUT : f32[COLS][ROWS]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   flops = 0, bytes = 8*ROWS*COLS
#pragma keet launch transpose<<<dim3(COLS/32, ROWS/32), dim3(32, 32)>>>(IN, OUT, ROWS, COLS)


__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y, x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    tile[y][x] = in[(y0 + y) * cols + x0 + x];
    __syncthreads();
    out[(x0 + y) * rows + y0 + x] = tile[x][y];
}
