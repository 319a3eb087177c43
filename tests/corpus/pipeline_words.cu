// Asynchronous copies beside the integer types of <stdint.h>, which the toolkit's headers declare too.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cstdio>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__global__ void rotate(uint64_t *out, const uint64_t *in, uint32_t by)
{
    __shared__ uint64_t words[128];
    cg::thread_block block = cg::this_thread_block();

    __pipeline_memcpy_async(&words[threadIdx.x], &in[blockIdx.x * 128 + threadIdx.x], sizeof(uint64_t));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    block.sync();
    unsigned long word = words[(threadIdx.x + 1) % 128];
    unsigned long *to = out;
    to[blockIdx.x * 128 + threadIdx.x] = word << by | word >> (64 - by);
}

int main()
{
    const int n = 1024;
    uint64_t *in, *out;

    cudaMalloc(&in, n * sizeof(uint64_t));
    cudaMalloc(&out, n * sizeof(uint64_t));
    rotate<<<n / 128, 128>>>(out, in, 7);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
