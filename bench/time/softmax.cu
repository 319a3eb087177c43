// Softmax of long rows, a row a block: the maximum, the sum of exponentials, the results; each pass reads the row.
#pragma keet size   ROWS = 4096, COLS = 393216
#pragma keet check  ROWS = 3, COLS = 8192
#pragma keet in     X : f32[ROWS][COLS] = uniform(-3, 3)
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet launch softmax<<<ROWS, 1024, 128>>>(X, Y, COLS)

#ifndef LOG
#define LOG 0
#endif

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

__global__ void softmax(const float *x, float *y, int cols)
{
    extern __shared__ float shared[];
    const float4 *row = (const float4 *)(x + (size_t)blockIdx.x * cols);
    float4 *out = (float4 *)(y + (size_t)blockIdx.x * cols);
    float largest = -3.4e38f, sum = 0;
    for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
        float4 v = row[i];
        largest = fmaxf(largest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    largest = block_reduce<true>(largest, shared);
    for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
        float4 v = row[i];
        sum += expf(v.x - largest);
        sum += expf(v.y - largest);
        sum += expf(v.z - largest);
        sum += expf(v.w - largest);
    }
    sum = block_reduce<false>(sum, shared);
#if LOG
    sum = logf(sum);
#endif
    for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
        float4 v = row[i];
#if LOG
        v = make_float4(v.x - largest - sum, v.y - largest - sum, v.z - largest - sum, v.w - largest - sum);
#else
        v = make_float4(expf(v.x - largest) / sum, expf(v.y - largest) / sum, expf(v.z - largest) / sum,
            expf(v.w - largest) / sum);
#endif
        out[i] = v;
    }
}
