// Each thread walks a row of COLS numbers alone and adds them up: every load of a warp touches 32 rows.
#pragma keet size   ROWS = 4096, COLS = 1024
#pragma keet check  ROWS = 1024, COLS = 8
#pragma keet in     X : f32[ROWS][COLS]
#pragma keet out    OUT : f32[ROWS]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256, 1024}
#pragma keet launch walk<<<ROWS/BLOCK, BLOCK>>>(X, OUT, COLS)

__global__ void walk(const float *x, float *out, int cols)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < cols; i++)
        sum += x[row * cols + i];
    out[row] = sum;
}
