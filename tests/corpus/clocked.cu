// A kernel that measures itself: its clock readings differ from run to run, its sums do not.
#include <cuda_runtime.h>

__global__ void timed_sum(const float *x, float *sum, long long *ticks)
{
    __shared__ float part[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    const long long start = clock64();

    part[threadIdx.x] = x[i];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        sum[blockIdx.x] = part[0];
        ticks[blockIdx.x] = clock64() - start;
    }
}

int main()
{
    const int blocks = 64;
    float *x, *sum;
    long long *ticks;

    cudaMalloc(&x, blocks * 128 * sizeof(float));
    cudaMalloc(&sum, blocks * sizeof(float));
    cudaMalloc(&ticks, blocks * sizeof(long long));
    timed_sum<<<blocks, 128>>>(x, sum, ticks);
    cudaDeviceSynchronize();
    return 0;
}
