// Instance norm without gain: mean and variance of each plane by a block of 512 threads, then the results.
#pragma keet size   PLANES = 7168, HW = 262144
#pragma keet check  PLANES = 3, HW = 2048
#pragma keet in     X : f32[PLANES][HW] = uniform(0, 1)
#pragma keet out    MEAN : f32[PLANES]
#pragma keet out    RSTD : f32[PLANES]
#pragma keet out    Y : f32[PLANES][HW]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch statistics<<<PLANES, 512>>>(X, MEAN, RSTD, HW)
#pragma keet launch transform<<<PLANES, 512>>>(X, MEAN, RSTD, Y, HW)

__device__ void together(float &mean, float &squares, int &count, float mean2, float squares2, int count2)
{
    float all = 1.0f / (float)max(1, count + count2), delta = mean - mean2;
    squares += squares2 + delta * delta * (float)count * (float)count2 * all;
    mean = ((float)count * mean + (float)count2 * mean2) * all;
    count += count2;
}

__global__ void statistics(const float *x, float *means, float *rstds, int hw)
{
    __shared__ float part_mean[16], part_squares[16];
    __shared__ int part_count[16];
    const float *plane = x + (size_t)blockIdx.x * hw;
    float mean = 0, squares = 0;
    int count = 0;
    for (int i = threadIdx.x; i < hw; i += 512) {
        float v = plane[i], delta = v - mean;
        count++;
        mean += delta / (float)count;
        squares += delta * (v - mean);
    }
    for (int s = 16; s > 0; s >>= 1) {
        float mean2 = __shfl_xor_sync(0xffffffff, mean, s), squares2 = __shfl_xor_sync(0xffffffff, squares, s);
        int count2 = __shfl_xor_sync(0xffffffff, count, s);
        together(mean, squares, count, mean2, squares2, count2);
    }
    if (threadIdx.x % 32 == 0) {
        part_mean[threadIdx.x / 32] = mean;
        part_squares[threadIdx.x / 32] = squares;
        part_count[threadIdx.x / 32] = count;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        bool has = threadIdx.x < 16;
        mean = has ? part_mean[threadIdx.x] : 0;
        squares = has ? part_squares[threadIdx.x] : 0;
        count = has ? part_count[threadIdx.x] : 0;
        for (int s = 16; s > 0; s >>= 1) {
            float mean2 = __shfl_xor_sync(0xffffffff, mean, s), squares2 = __shfl_xor_sync(0xffffffff, squares, s);
            int count2 = __shfl_xor_sync(0xffffffff, count, s);
            together(mean, squares, count, mean2, squares2, count2);
        }
        if (threadIdx.x == 0) {
            means[blockIdx.x] = mean;
            rstds[blockIdx.x] = rsqrtf(squares / (float)hw + 1e-5f);
        }
    }
}

__global__ void transform(const float *x, const float *means, const float *rstds, float *y, int hw)
{
    const float *plane = x + (size_t)blockIdx.x * hw;
    float *out = y + (size_t)blockIdx.x * hw, mean = means[blockIdx.x], rstd = rstds[blockIdx.x];
    for (int i = threadIdx.x; i < hw; i += 512)
        out[i] = (plane[i] - mean) * rstd;
}
