// One warp fills two buffers, three warps sum them up: cuda::barrier tells full from empty.
#pragma keet size   N = 4096
#pragma keet check  N = 480
#pragma keet in     X : i32[N] = integers(0, 100)
#pragma keet out    Y : i32[96]
#pragma keet launch barrier_roles<<<1, 128>>>(X, Y, N/96)
#include <cuda/barrier>

__global__ void barrier_roles(const int *x, int *y, int n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(barrier) unsigned char room[4 * sizeof(barrier)];
    __shared__ int s[2][96];
    barrier *full = reinterpret_cast<barrier *>(room), *empty = full + 2;
    if (threadIdx.x < 4)
        init(full + threadIdx.x, 128);
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; i++) {
            empty[i % 2].arrive_and_wait();
            for (int j = threadIdx.x; j < 96; j += 32)
                s[i % 2][j] = x[i * 96 + j];
            (void)full[i % 2].arrive();
        }
        return;
    }
    int sum = 0, at = threadIdx.x - 32;
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    for (int i = 0; i < n; i++) {
        full[i % 2].arrive_and_wait();
        sum += s[i % 2][at];
        (void)empty[i % 2].arrive();
    }
    y[at] = sum;
}
