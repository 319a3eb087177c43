// Transpose, one element a thread: reads run along memory, writes do not.
#pragma keet size   ROWS = 4096, COLS = 4096
#pragma keet check  ROWS = 64, COLS = 160
#pragma keet in     IN : f32[ROWS][COLS] = uniform(-1, 1)
#pragma keet out    OUT : f32[COLS][ROWS]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   flops = 0, bytes = 8*ROWS*COLS
#pragma keet launch transpose<<<dim3(COLS/32, ROWS/32), dim3(32, 32)>>>(IN, OUT, ROWS, COLS)


__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * rows + y] = in[y * cols + x];
}
