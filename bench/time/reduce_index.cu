// The largest or smallest value over the middle of three dimensions and where it stands, launched as sums are.
#pragma keet size   B = 128, R = 4096, C = 4095
#pragma keet check  B = 2, R = 129, C = 33
#pragma keet in     X : f32[B][R][C] = uniform(0, 1)
#pragma keet out    Y : f32[B][C]
#pragma keet out    AT : i64[B][C]
#pragma keet launch reduce<<<ceil_div(B*C, 32), dim3(32, 16)>>>(X, Y, AT, R, C, B*C)

#ifndef VALUES
#define VALUES 1
#endif
#ifndef SIGN
#define SIGN 1
#endif

struct Found {
    float value;
    long long at;
};

__device__ Found better(Found a, Found b)
{
    bool first = SIGN * a.value > SIGN * b.value || (a.value == b.value && a.at < b.at) || a.value != a.value;
    return first ? a : b;
}

__global__ void reduce(const float *x, float *y, long long *at, int rows, int cols, int nr)
{
    __shared__ Found part[16][32];
    int out = blockIdx.x * 32 + threadIdx.x;
    Found found[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        found[i] = {SIGN * -3.4e38f, 0};
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
                found[i] = better(found[i], Found{v[i], row + 16 * i});
        }
        for (; row < rows; row += 16)
            found[0] = better(found[0], Found{from[(size_t)row * cols], row});
    }
    part[threadIdx.y][threadIdx.x] = better(better(found[0], found[1]), better(found[2], found[3]));
    for (int s = 8; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.y < s)
            part[threadIdx.y][threadIdx.x] =
                better(part[threadIdx.y][threadIdx.x], part[threadIdx.y + s][threadIdx.x]);
    }
    if (threadIdx.y == 0 && out < nr) {
#if VALUES
        y[out] = part[0][threadIdx.x].value;
#endif
        at[out] = part[0][threadIdx.x].at;
    }
}
