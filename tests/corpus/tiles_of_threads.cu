// Cooperative groups: tiles of 32 threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void dot(const float *a, const float *b, float *sums, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    float sum = 0;
    for (int i = warp.thread_rank(); i < n; i += warp.size())
        sum += a[row * n + i] * b[row * n + i];
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    if (warp.thread_rank() == 0)
        sums[row] = sum;
}

int main()
{
    int rows = 16, n = 100;
    float *a, *b, *sums;
    cudaMalloc(&a, rows * n * sizeof(float));
    cudaMalloc(&b, rows * n * sizeof(float));
    cudaMalloc(&sums, rows * sizeof(float));
    dot<<<rows / 4, 128>>>(a, b, sums, n);
}
