// Sum or mean over the middle of three dimensions: 32 neighbouring results a block, 16 rows at a time, four
// loads under way in each thread.
#pragma keet size   B = 128, R = 4096, C = 4095
#pragma keet check  B = 2, R = 129, C = 33
#pragma keet in     X : f32[B][R][C] = uniform(0, 1)
#pragma keet out    Y : f32[B][C]
#pragma keet launch reduce<<<ceil_div(B*C, 32), dim3(32, 16)>>>(X, Y, R, C, B*C)

#ifndef MEAN
#define MEAN 0
#endif

__global__ void reduce(const float *x, float *y, int rows, int cols, int nr)
{
    __shared__ float part[16][32];
    int out = blockIdx.x * 32 + threadIdx.x;
    float sum[4] = {0, 0, 0, 0};
    if (out < nr) {
        const float *from = x + (size_t)(out / cols) * rows * cols + out % cols;
        int row = threadIdx.y;
        for (; row + 48 < rows; row += 64) {
            float v[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                v[i] = from[(size_t)(row + 16 * i) * cols];
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[i] += v[i];
        }
        for (; row < rows; row += 16)
            sum[0] += from[(size_t)row * cols];
    }
    part[threadIdx.y][threadIdx.x] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (int s = 8; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.y < s)
            part[threadIdx.y][threadIdx.x] += part[threadIdx.y + s][threadIdx.x];
    }
    if (threadIdx.y == 0 && out < nr)
        y[out] = part[0][threadIdx.x] / (MEAN ? (float)rows : 1.0f);
}
