// Softmax of rows, one row a block; maximum and sum by shuffles, then once across the warps.
#pragma keet size   ROWS = 4096, COLS = 4096
#pragma keet check  ROWS = 64, COLS = 512
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet work   flops = 5*ROWS*COLS, bytes = 8*ROWS*COLS
#pragma keet launch softmax<<<ROWS, 256>>>(X, Y, COLS)


__global__ void softmax(const float *x, float *y, int cols)
{
    __shared__ float tops[8], sums[8];
    int t = threadIdx.x, lane = t % 32;
    float top = -INFINITY, sum = 0;
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    for (int i = t; i < cols; i += 256)
        top = fmaxf(top, x[i]);
    for (int d = 16; d > 0; d >>= 1)
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, d));
    if (lane == 0)
        tops[t / 32] = top;
    __syncthreads();
    top = tops[lane % 8];
    for (int d = 4; d > 0; d >>= 1)
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, d));
    for (int i = t; i < cols; i += 256)
        sum += __expf(x[i] - top);
    for (int d = 16; d > 0; d >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0)
        sums[t / 32] = sum;
    __syncthreads();
    sum = sums[lane % 8];
    for (int d = 4; d > 0; d >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int i = t; i < cols; i += 256)
        y[i] = __expf(x[i] - top) / sum;
}
