// Mean of -log softmax at the label: log softmax of a row a block with the row in registers, then one warp that gathers
// and sums.
#pragma keet size   ROWS = 32768, COLS = 4096
#pragma keet check  ROWS = 40, COLS = 4096
#pragma keet in     X : f32[ROWS][COLS] = uniform(0, 1)
#pragma keet in     T : i64[ROWS] = integers(0, COLS-1)
#pragma keet out    L : f32[ROWS][COLS]
#pragma keet out    Y : f32[1]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch log_softmax<<<ROWS, 1024, 128>>>(X, L)
#pragma keet launch pick<<<1, 32>>>(L, T, Y, ROWS, COLS)

template <bool is_max> __device__ float block_reduce(float v, float *shared)
{
    for (int s = 16; s > 0; s >>= 1) {
        float other = __shfl_xor_sync(0xffffffff, v, s);
        v = is_max ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = shared[threadIdx.x % 32];
    for (int s = 16; s > 0; s >>= 1) {
        float other = __shfl_xor_sync(0xffffffff, v, s);
        v = is_max ? fmaxf(v, other) : v + other;
    }
    return v;
}

__global__ void log_softmax(const float *x, float *y)
{
    extern __shared__ float shared[];
    const float *row = x + (size_t)blockIdx.x * 4096;
    float *out = y + (size_t)blockIdx.x * 4096, kept[4], largest = -3.4e38f, sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        kept[k] = row[k * 1024 + threadIdx.x];
        largest = fmaxf(largest, kept[k]);
    }
    largest = block_reduce<true>(largest, shared);
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum += expf(kept[k] - largest);
    sum = logf(block_reduce<false>(sum, shared));
#pragma unroll
    for (int k = 0; k < 4; k++)
        out[k * 1024 + threadIdx.x] = kept[k] - largest - sum;
}

__global__ void pick(const float *l, const long long *t, float *y, int rows, int cols)
{
    __shared__ float part[32];
    float sum = 0;
    for (int i = threadIdx.x; i < rows; i += 32) {
        long long label = t[i];
        if (label != -100)
            sum -= l[(size_t)i * cols + label];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int i = 0; i < 32; i++)
            all += part[i];
        y[0] = all / (float)rows;
    }
}
