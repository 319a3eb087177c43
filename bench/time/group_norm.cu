// Group norm: moments of each group by a block of 512 threads, factors for each channel, then x a + b.
#pragma keet size   B = 112, G = 8, D = 8, HW = 262144, SHIFT = 18
#pragma keet check  B = 2, G = 2, D = 4, HW = 256, SHIFT = 8
#pragma keet in     X : f32[B][G*D][HW] = uniform(0, 1)
#pragma keet in     GAIN : f32[G*D] = uniform(0, 1)
#pragma keet in     BIAS : f32[G*D] = uniform(0, 1)
#pragma keet out    MEAN : f32[B*G]
#pragma keet out    RSTD : f32[B*G]
#pragma keet out    P : f32[B*G*D]
#pragma keet out    Q : f32[B*G*D]
#pragma keet out    Y : f32[B][G*D][HW]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch moments<<<B*G, 512>>>(X, MEAN, RSTD, D*HW)
#pragma keet launch factors<<<ceil_div(B*G*D, 256), 256>>>(MEAN, RSTD, GAIN, BIAS, P, Q, B*G*D, G*D, D)
#pragma keet launch apply<<<ceil_div(B*G*D*HW, 256), 128>>>(X, P, Q, Y, B*G*D*HW, {HW : u32, 1 : u32, SHIFT : u32})

#include "parts.cuh"

struct Moments {
    float mean, squares;
    int number;
    float count;
};

__device__ Moments together(Moments a, Moments b)
{
    if (a.count == 0)
        return b;
    if (b.count == 0)
        return a;
    float delta = b.mean - a.mean, count = a.count + b.count, share = b.count / count;
    return {a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share, -1, count};
}

__device__ Moments from_lane(Moments m, int s)
{
    return {__shfl_down_sync(0xffffffff, m.mean, s), __shfl_down_sync(0xffffffff, m.squares, s),
        __shfl_down_sync(0xffffffff, m.number, s), __shfl_down_sync(0xffffffff, m.count, s)};
}

__global__ void moments(const float *x, float *means, float *rstds, int n)
{
    __shared__ Moments part[16];
    Moments m = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < n; i += 512) {
        float v = x[(size_t)blockIdx.x * n + i], delta = v - m.mean;
        int number = m.number + 1;
        float mean = m.mean + delta / (float)number;
        m = {mean, m.squares + delta * (v - mean), number, (float)number};
    }
    for (int s = 16; s > 0; s >>= 1)
        m = together(m, from_lane(m, s));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x < 32) {
        m = threadIdx.x < 16 ? part[threadIdx.x] : Moments{0, 0, 0, 0};
        for (int s = 16; s > 0; s >>= 1)
            m = together(m, from_lane(m, s));
        if (threadIdx.x == 0) {
            means[blockIdx.x] = m.mean;
            rstds[blockIdx.x] = rsqrtf(m.squares / m.count + 1e-5f);
        }
    }
}

__global__ void factors(const float *means, const float *rstds, const float *gain, const float *bias, float *p, float *q,
    int nr, int channels, int of_group)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < nr) {
        float scale = gain[i % channels] * rstds[i / of_group];
        p[i] = scale;
        q[i] = bias[i % channels] - scale * means[i / of_group];
    }
}

__global__ void apply(const float *x, const float *p, const float *q, float *y, unsigned n, Divisor plane)
{
    unsigned first = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = first + k * 128;
        if (i < n) {
            unsigned channel = quotient(i, plane.magic, plane.shift);
            y[i] = x[i] * p[channel] + q[channel];
        }
    }
}
