// An inclusive scan of each row: 32 rows of 16 threads a block, 32 elements of a row at a time in shared memory.
#ifndef PRODUCT
#define PRODUCT 0
#endif

__global__ void scan(const float *x, float *y, unsigned rows, unsigned cols, unsigned log_threads)
{
    extern __shared__ float shared[];
    unsigned threads = 1u << log_threads, row = blockIdx.x * blockDim.y + threadIdx.y;
    float *part = shared + 2 * threads * threadIdx.y, before = PRODUCT;
    const float *from = x + (size_t)row * cols;
    float *to = y + (size_t)row * cols;
    bool exists = row < rows;
    for (unsigned first = 0; first < cols; first += 2 * threads) {
        unsigned col1 = first + threadIdx.x, col2 = col1 + threads;
        if (exists) {
            part[threadIdx.x] = col1 < cols ? from[col1] : (float)PRODUCT;
            part[threads + threadIdx.x] = col2 < cols ? from[col2] : (float)PRODUCT;
            if (threadIdx.x == 0)
                part[0] = PRODUCT ? part[0] * before : part[0] + before;
        }
        __syncthreads();
        for (unsigned m = 0; m <= log_threads; m++) {
            if (exists) {
                unsigned s = 1u << m, start = threadIdx.x >> m << (m + 1) | s;
                unsigned to_at = start + threadIdx.x % s, from_at = start - 1;
                part[to_at] = PRODUCT ? part[to_at] * part[from_at] : part[to_at] + part[from_at];
            }
            __syncthreads();
        }
        if (exists) {
            if (col1 < cols)
                to[col1] = part[threadIdx.x];
            if (col2 < cols)
                to[col2] = part[threads + threadIdx.x];
        }
        if (exists)
            before = part[2 * threads - 1];
        __syncthreads();
    }
}
