// Layer normalisation, one block per row.
#pragma keet size   ROWS = 1024, COLS = 1024
#pragma keet in     X : f32[ROWS][COLS]
#pragma keet in     G : f32[COLS]
#pragma keet in     B : f32[COLS]
#pragma keet out    Y : f32[ROWS][COLS]
#pragma keet launch layernorm<<<ROWS, 256>>>(X, G, B, Y, COLS)

__device__ float block_sum(float v, float *part)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int i = 0; i < 8; i++)
        v += part[i];
    return v;
}

__global__ void layernorm(const float *X, const float *G, const float *B, float *Y, int cols)
{
    __shared__ float part[8];
    const float *x = X + blockIdx.x * cols;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < cols; i += 256)
        sum += x[i];
    float mean = block_sum(sum, part) / cols;
    for (int i = threadIdx.x; i < cols; i += 256)
        squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(block_sum(squares, part) / cols + 1e-5f);
    for (int i = threadIdx.x; i < cols; i += 256)
        Y[blockIdx.x * cols + i] = (x[i] - mean) * scale * G[i] + B[i];
}
