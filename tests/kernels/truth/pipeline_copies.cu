// Two stages of asynchronous copies: cuda::pipeline of a block, whose ends mbarriers tell.
#pragma keet size   N = 4096
#pragma keet check  N = 512
#pragma keet in     X : i32[N] = integers(0, 100)
#pragma keet out    Y : i32[128]
#pragma keet launch pipeline_copies<<<1, 128>>>(X, Y, N/128)
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void pipeline_copies(const int *x, int *y, int n)
{
    using state = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
    __shared__ alignas(state) unsigned char room[sizeof(state)];
    __shared__ alignas(16) int s[2][128];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, reinterpret_cast<state *>(room));
    int sum = 0;
    for (int i = 0, next = 0; i < n; i++) {
        for (; next < n && next < i + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[next % 2], x + next * 128,
                cuda::aligned_size_t<16>(128 * sizeof(int)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[i % 2][(threadIdx.x + 1) % 128];
        pipe.consumer_release();
    }
    y[threadIdx.x] = sum;
}
