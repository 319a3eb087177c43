// Softmax of rows, one row a block; maximum and sum by halves in shared memory.
#pragma keet size   ROWS = 4096, COLS = 4096
#pragma keet check  ROWS = 64, COLS = 512
#pragma keet in     X : f32[ROWS][COLS] = uniform(-4, 4)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet work   flops = 5*ROWS*COLS, bytes = 8*ROWS*COLS
#pragma keet launch softmax<<<ROWS, 256>>>(X, Y, COLS)


__global__ void softmax(const float *x, float *y, int cols)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float top = -INFINITY, sum = 0;
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    for (int i = t; i < cols; i += 256)
        top = fmaxf(top, x[i]);
    s[t] = top;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    top = s[0];
    __syncthreads();
    for (int i = t; i < cols; i += 256)
        sum += __expf(x[i] - top);
    s[t] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    sum = s[0];
    for (int i = t; i < cols; i += 256)
        y[i] = __expf(x[i] - top) / sum;
}
