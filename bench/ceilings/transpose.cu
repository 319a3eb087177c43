// Transpose of a row-major f32 matrix, one element per thread. Reads run along memory, writes do not.
#pragma keet size   ROWS = 2048, COLS = 2048
#pragma keet check  ROWS = 67, COLS = 129
#pragma keet check  ROWS = 96, COLS = 64
#pragma keet in     IN : f32[ROWS][COLS] = uniform(-1, 1)
#pragma keet out    OUT : f32[COLS][ROWS]
#pragma keet tolerance rel = 0, abs = 0
#pragma keet work   flops = 0, bytes = 8*ROWS*COLS
#pragma keet tune   BX = 8 in {8, 16, 32}
#pragma keet tune   BY = 4 in {4, 8, 16, 32}
#pragma keet where  BX*BY <= 1024
#pragma keet tune   TILE_X = 32 in {16, 32, 64}
#pragma keet tune   TILE_Y = 32 in {16, 32, 64}
#pragma keet launch transpose<<<dim3(ceil_div(ROWS, TILE_X), ceil_div(COLS, TILE_Y)), dim3(BY, BX)>>>(IN, OUT, ROWS, COLS)

__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[TILE_Y][TILE_X + 1];
    const int NR_THREADS = BY * BX;
    int tid = threadIdx.y * BY + threadIdx.x;
    float value[(TILE_X * TILE_Y + NR_THREADS - 1) / NR_THREADS];
    #pragma unroll
    for (int u = 0; u < (TILE_X * TILE_Y + NR_THREADS - 1) / NR_THREADS; u++) {
        int e = tid + u * NR_THREADS;
        int ly = e % TILE_Y, lx = e / TILE_Y;
        int x = blockIdx.y * TILE_Y + ly;
        int y = blockIdx.x * TILE_X + lx;
        if ((TILE_X * TILE_Y % NR_THREADS == 0 || e < TILE_X * TILE_Y) && x < cols && y < rows)
            value[u] = in[y * cols + x];
    }
    #pragma unroll
    for (int u = 0; u < (TILE_X * TILE_Y + NR_THREADS - 1) / NR_THREADS; u++) {
        int e = tid + u * NR_THREADS;
        int ly = e % TILE_Y, lx = e / TILE_Y;
        int x = blockIdx.y * TILE_Y + ly;
        int y = blockIdx.x * TILE_X + lx;
        if ((TILE_X * TILE_Y % NR_THREADS == 0 || e < TILE_X * TILE_Y) && x < cols && y < rows)
            tile[ly][lx] = value[u];
    }
    __syncthreads();
    #pragma unroll
    for (int u = 0; u < (TILE_X * TILE_Y + NR_THREADS - 1) / NR_THREADS; u++) {
        int e = tid + u * NR_THREADS;
        int lx = e % TILE_X, ly = e / TILE_X;
        int x = blockIdx.y * TILE_Y + ly;
        int y = blockIdx.x * TILE_X + lx;
        if ((TILE_X * TILE_Y % NR_THREADS == 0 || e < TILE_X * TILE_Y) && x < cols && y < rows)
            out[x * rows + y] = tile[ly][lx];
    }
}
