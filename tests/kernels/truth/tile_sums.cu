// Sums over tiles of two warps, by cooperative groups.
#pragma keet size   N = 4096
#pragma keet check  N = 256
#pragma keet in     X : i32[N] = integers(0, 100)
#pragma keet out    SUMS : i32[N/64]
#pragma keet launch tile_sums<<<N/256, 256>>>(X, SUMS)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void tile_sums(const int *x, int *sums)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<64>(block);
    int i = blockIdx.x * 256 + threadIdx.x;
    int sum = cg::reduce(tile, x[i], cg::plus<int>());
    if (tile.thread_rank() == 0)
        sums[i / 64] = sum;
}
