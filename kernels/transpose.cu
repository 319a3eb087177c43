// Transpose of a row-major f32 matrix, one element per thread. Reads run along memory, writes do not.
#pragma keet size   ROWS = 2048, COLS = 2048
#pragma keet check  ROWS = 67, COLS = 129
#pragma keet check  ROWS = 96, COLS = 64
#pragma keet in     IN : f32[ROWS][COLS] = uniform(-1, 1)
#pragma keet out    OUT : f32[COLS][ROWS]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   flops = 0, bytes = 8*ROWS*COLS
#pragma keet tune   BX = 16 in {8, 16, 32}
#pragma keet tune   BY = 16 in {4, 8, 16, 32}
#pragma keet where  BX*BY <= 1024
#pragma keet launch transpose<<<dim3(ceil_div(COLS, BX), ceil_div(ROWS, BY)), dim3(BX, BY)>>>(IN, OUT, ROWS, COLS)

__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows)
        out[x * rows + y] = in[y * cols + x];
}
