// The passes that eager frameworks put operators together from: contiguous and broadcast element-wise kernels, and
// sums over everything, over rows and over columns. The shapes of their launches are those of PyTorch 2.9.

// --- contiguous: 128 threads a block, eight elements a thread in two loads of 16 bytes, 512 elements apart ---

template <class F> __device__ float4 of4(float4 a)
{
    return make_float4(F::of(a.x), F::of(a.y), F::of(a.z), F::of(a.w));
}

template <class F> __device__ float4 of4(float4 a, float4 b)
{
    return make_float4(F::of(a.x, b.x), F::of(a.y, b.y), F::of(a.z, b.z), F::of(a.w, b.w));
}

template <class F> __global__ void unary(const float *x, float *y, unsigned n)
{
    unsigned block = blockIdx.x * 1024;
    if (n - block >= 1024) {
        const float4 *x4 = (const float4 *)(x + block);
        float4 *y4 = (float4 *)(y + block), a = x4[threadIdx.x], b = x4[128 + threadIdx.x];
        a = of4<F>(a);
        b = of4<F>(b);
        y4[threadIdx.x] = a;
        y4[128 + threadIdx.x] = b;
    } else {
        for (unsigned i = block + threadIdx.x; i < n; i += 128)
            y[i] = F::of(x[i]);
    }
}

template <class F> __global__ void binary(const float *x, const float *y, float *z, unsigned n)
{
    unsigned block = blockIdx.x * 1024;
    if (n - block >= 1024) {
        const float4 *x4 = (const float4 *)(x + block), *y4 = (const float4 *)(y + block);
        float4 *z4 = (float4 *)(z + block), a = x4[threadIdx.x], b = x4[128 + threadIdx.x];
        float4 c = y4[threadIdx.x], d = y4[128 + threadIdx.x];
        a = of4<F>(a, c);
        b = of4<F>(b, d);
        z4[threadIdx.x] = a;
        z4[128 + threadIdx.x] = b;
    } else {
        for (unsigned i = block + threadIdx.x; i < n; i += 128)
            z[i] = F::of(x[i], y[i]);
    }
}

struct Add { static __device__ float of(float a, float b) { return a + b; } };
struct Sub { static __device__ float of(float a, float b) { return a - b; } };
struct Mul { static __device__ float of(float a, float b) { return a * b; } };
struct Div { static __device__ float of(float a, float b) { return a / b; } };
struct Square { static __device__ float of(float x) { return x * x; } };
struct Abs { static __device__ float of(float x) { return fabsf(x); } };
struct Same { static __device__ float of(float x) { return x; } };

// --- broadcast: 128 threads a block, two elements a thread, 128 apart; places are found by dividing ---

// i / d for a d that the host knows: shift = ceil(log2(d)), magic = 2^32 * (2^shift - d) / d + 1, i below 2^31.
__device__ unsigned quotient(unsigned i, unsigned magic, unsigned shift)
{
    return (__umulhi(i, magic) + i) >> shift;
}

struct Divisor {
    unsigned d, magic, shift;
};

// z[i] = F(x[i], y[0])
template <class F> __global__ void with_one(const float *x, const float *y, float *z, unsigned n)
{
    unsigned first = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = first + k * 128;
        if (i < n)
            z[i] = F::of(x[i], y[0]);
    }
}

// z[row][col] = F(x[row][col], y[row])
template <class F> __global__ void with_row(const float *x, const float *y, float *z, unsigned n, Divisor cols)
{
    unsigned first = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = first + k * 128;
        if (i < n)
            z[i] = F::of(x[i], y[quotient(i, cols.magic, cols.shift)]);
    }
}

// z[row][col] = F(x[row][col], y[col])
template <class F> __global__ void with_column(const float *x, const float *y, float *z, unsigned n, Divisor cols)
{
    unsigned first = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = first + k * 128;
        if (i < n)
            z[i] = F::of(x[i], y[i - quotient(i, cols.magic, cols.shift) * cols.d]);
    }
}

// z[a][b][c] = F(x[a][b][c], y[a][c])
template <class F>
__global__ void with_outer(const float *x, const float *y, float *z, unsigned n, Divisor inner, Divisor middle)
{
    unsigned first = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = first + k * 128;
        if (i < n) {
            unsigned row = quotient(i, inner.magic, inner.shift), c = i - row * inner.d;
            unsigned a = quotient(row, middle.magic, middle.shift);
            z[i] = F::of(x[i], y[a * inner.d + c]);
        }
    }
}

// --- sums ---

__device__ float block_sum(float v)
{
    __shared__ float of_warp[32];
    unsigned t = threadIdx.y * blockDim.x + threadIdx.x, nr_warps = blockDim.x * blockDim.y / 32;
    for (int s = 16; s > 0; s >>= 1)
        v += __shfl_down_sync(0xffffffff, v, s);
    __syncthreads();
    if (t % 32 == 0)
        of_warp[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < nr_warps ? of_warp[t] : 0.0f;
        for (int s = 16; s > 0; s >>= 1)
            v += __shfl_down_sync(0xffffffff, v, s);
    }
    return v; // in thread 0
}

__device__ float sum4(const float *v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

// Each block sums a share of everything, each thread about 256 elements in float4; `total` sums the shares.
template <class F> __global__ void partial_sums(const float *x, float *partial, unsigned n)
{
    float sum[4] = {0, 0, 0, 0};
    unsigned step = gridDim.x * 512;
    for (unsigned i = blockIdx.x * 512 + threadIdx.x; i < n / 4; i += step) {
        float4 v = ((const float4 *)x)[i];
        sum[0] += F::of(v.x);
        sum[1] += F::of(v.y);
        sum[2] += F::of(v.z);
        sum[3] += F::of(v.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4)
        sum[0] += F::of(x[n / 4 * 4 + threadIdx.x]);
    float all = block_sum(sum4(sum));
    if (threadIdx.x == 0)
        partial[blockIdx.x] = all;
}

// G is what becomes of the sum of all n elements.
template <class G> __global__ void total(const float *partial, float *result, unsigned nr_partial, unsigned n)
{
    float sum = 0;
    for (unsigned i = threadIdx.x; i < nr_partial; i += 512)
        sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        result[0] = G::of(sum, (float)n);
}

struct Sum { static __device__ float of(float sum, float n) { return sum; } };
struct Mean { static __device__ float of(float sum, float n) { return sum / n; } };
struct Root { static __device__ float of(float sum, float n) { return sqrtf(sum); } };

// A row a block of 32 x 16 threads, in float4 from the first aligned place on.
template <class F, class G> __global__ void row_sums(const float *x, float *result, unsigned cols)
{
    const float *row = x + (size_t)blockIdx.x * cols;
    unsigned t = threadIdx.y * 32 + threadIdx.x, shift = (unsigned)((size_t)row / 4 % 4);
    float sum[4] = {0, 0, 0, 0};
    unsigned left = cols;
    if (shift > 0) {
        unsigned head = 4 - shift;
        if (t < head && t < cols)
            sum[0] += F::of(row[t]);
        row += head;
        left = cols > head ? cols - head : 0;
    }
    unsigned i = t;
    for (; i * 4 + 3 < left; i += 512) {
        float4 v = ((const float4 *)row)[i];
        sum[0] += F::of(v.x);
        sum[1] += F::of(v.y);
        sum[2] += F::of(v.z);
        sum[3] += F::of(v.w);
    }
    unsigned tail = left / 4 * 4 + t;
    if (tail < left)
        sum[0] += F::of(row[tail]);
    float all = block_sum(sum4(sum));
    if (t == 0)
        result[blockIdx.x] = G::of(all, (float)cols);
}
