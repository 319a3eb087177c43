// Softmax of rows, one row a block; maximum and sum in one pass (online), merged by shuffles.
#pragma keet size   ROWS = 4096, COLS = 4096
#pragma keet check  ROWS = 64, COLS = 512
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet work   flops = 5*ROWS*COLS, bytes = 8*ROWS*COLS
#pragma keet launch softmax<<<ROWS, 256>>>(X, Y, COLS)


__device__ void merge(float &top, float &sum, float top2, float sum2)
{
    float most = fmaxf(top, top2);
    sum = sum * __expf(top - most) + sum2 * __expf(top2 - most);
    top = most;
}

__global__ void softmax(const float *x, float *y, int cols)
{
    __shared__ float tops[8], sums[8];
    int t = threadIdx.x, lane = t % 32;
    float top = -1e30f, sum = 0;
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    for (int i = t; i < cols; i += 256)
        merge(top, sum, x[i], 1);
    for (int d = 16; d > 0; d >>= 1) {
        float top2 = __shfl_xor_sync(0xffffffff, top, d), sum2 = __shfl_xor_sync(0xffffffff, sum, d);
        merge(top, sum, top2, sum2);
    }
    if (lane == 0) {
        tops[t / 32] = top;
        sums[t / 32] = sum;
    }
    __syncthreads();
    top = tops[0];
    sum = sums[0];
    for (int w = 1; w < 8; w++)
        merge(top, sum, tops[w], sums[w]);
    for (int i = t; i < cols; i += 256)
        y[i] = __expf(x[i] - top) / sum;
}
