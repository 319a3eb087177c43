// cub's block primitives, with the block's size as a template argument.
#include <cub/block/block_reduce.cuh>

template <int BLOCK>
__global__ void row_max(const int *x, int *m, int cols)
{
    using Reduce = cub::BlockReduce<int, BLOCK>;
    __shared__ typename Reduce::TempStorage storage;
    int best = -2147483647;
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        best = x[blockIdx.x * cols + c] > best ? x[blockIdx.x * cols + c] : best;
    best = Reduce(storage).Reduce(best, [](int a, int b) { return a > b ? a : b; });
    if (threadIdx.x == 0)
        m[blockIdx.x] = best;
}

int main()
{
    const int rows = 12, cols = 700;
    constexpr int kBlock = 128;
    int *x, *m;
    cudaMalloc(&x, rows * cols * sizeof(int));
    cudaMalloc(&m, rows * sizeof(int));
    row_max<kBlock><<<rows, kBlock>>>(x, m, cols);
}
