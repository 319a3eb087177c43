// Layer norm of few, very long rows, a row a block of 128 threads: mean and variance in one pass, then the results.
#pragma keet size   ROWS = 16, COLS = 4194304
#pragma keet check  ROWS = 3, COLS = 2048
#pragma keet in     X : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet in     G : f32[COLS] = uniform(0, 1)
#pragma keet in     B : f32[COLS] = uniform(0, 1)
#pragma keet out    MEAN : f32[ROWS]
#pragma keet out    RSTD : f32[ROWS]
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch layer_norm<<<ROWS, dim3(32, 4)>>>(X, G, B, MEAN, RSTD, Y, COLS)

struct Moments {
    float mean, squares, count;
};

__device__ Moments with_value(Moments m, float v)
{
    float delta = v - m.mean, count = m.count + 1.0f, mean = m.mean + delta * (1.0f / count);
    return {mean, m.squares + delta * (v - mean), count};
}

__device__ Moments together(Moments a, Moments b)
{
    float count = a.count + b.count;
    if (count <= 0.0f)
        return {0.0f, 0.0f, 0.0f};
    float share = 1.0f / count, delta = b.mean - a.mean;
    return {a.mean * (a.count * share) + b.mean * (b.count * share),
        a.squares + b.squares + delta * delta * a.count * b.count * share, count};
}

__global__ void layer_norm(const float *x, const float *g, const float *b, float *mean, float *rstd, float *y, int cols)
{
    __shared__ Moments part[4];
    const float4 *row = (const float4 *)(x + (size_t)blockIdx.x * cols);
    float4 *out = (float4 *)(y + (size_t)blockIdx.x * cols);
    int t = threadIdx.y * 32 + threadIdx.x;
    Moments m = {0.0f, 0.0f, 0.0f};
    for (int i = t; i < cols / 4; i += 128) {
        float4 v = row[i];
        m = with_value(m, v.x);
        m = with_value(m, v.y);
        m = with_value(m, v.z);
        m = with_value(m, v.w);
    }
    for (int s = 16; s > 0; s >>= 1) {
        Moments other = {__shfl_down_sync(0xffffffff, m.mean, s), __shfl_down_sync(0xffffffff, m.squares, s),
            __shfl_down_sync(0xffffffff, m.count, s)};
        m = together(m, other);
    }
    if (threadIdx.x == 0)
        part[threadIdx.y] = m;
    __syncthreads();
    m = together(together(part[0], part[1]), together(part[2], part[3]));
    float scale = rsqrtf(m.squares / (float)cols + 1e-5f);
    for (int i = t; i < cols / 4; i += 128) {
        float4 v = row[i], gain = ((const float4 *)g)[i], bias = ((const float4 *)b)[i];
        out[i] = make_float4(gain.x * (scale * (v.x - m.mean)) + bias.x, gain.y * (scale * (v.y - m.mean)) + bias.y,
            gain.z * (scale * (v.z - m.mean)) + bias.z, gain.w * (scale * (v.w - m.mean)) + bias.w);
    }
    if (t == 0) {
        mean[blockIdx.x] = m.mean;
        rstd[blockIdx.x] = scale;
    }
}
