// Rounds of neighbours' values through shared memory: cuda::barrier, tokens and both ways to wait.
#pragma keet size   N = 2048
#pragma keet check  N = 256
#pragma keet in     X : i32[N] = integers(0, 100)
#pragma keet out    Y : i32[N]
#pragma keet launch barrier_rounds<<<N/256, 256>>>(X, Y)
#include <cuda/barrier>

__global__ void barrier_rounds(const int *x, int *y)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(barrier) unsigned char room[sizeof(barrier)];
    __shared__ int s[256];
    barrier *b = reinterpret_cast<barrier *>(room);
    int i = blockIdx.x * 256 + threadIdx.x, v = x[i];
    if (threadIdx.x == 0)
        init(b, 256);
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        s[threadIdx.x] = v + round;
        auto token = b->arrive();
        b->wait(std::move(token));
        v = s[(threadIdx.x + 1) % 256];
        b->arrive_and_wait();
    }
    y[i] = v;
}
