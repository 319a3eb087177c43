// The host encodes the tensor map of its kernel itself, and the winner takes another one.
#pragma keet size   height = 100, width = 256
#pragma keet check  height = 20, width = 72
#pragma keet in     x : f32[height][width] = uniform(-1, 1)
#pragma keet out    sums : f32[ceil_div(height, 16)][width]
#pragma keet launch tile_sums<<<dim3(ceil_div(width, 64), ceil_div(height, 16)), 64>>>(tensor_map(x, box(64, 16)), sums, height, width)
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

/* The sum of each column of a tile of 16 rows. */
__global__ void tile_sums(const __grid_constant__ CUtensorMap x, float *sums, int rows, int cols)
{
    __shared__ __align__(128) float tile[16 * 64];
    __shared__ __align__(8) unsigned long long bar;
    const unsigned full = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(tile);
    int col = blockIdx.x * 64 + threadIdx.x;
    float sum = 0;

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(full));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(full), "r"(16 * 64 * 4) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(to), "l"(&x), "r"(blockIdx.x * 64), "r"(blockIdx.y * 16), "r"(full) : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN;\n}" :: "r"(full) : "memory");
    for (int row = 0; row < 16; row++)
        sum += tile[row * 64 + threadIdx.x];
    if (col < cols)
        sums[blockIdx.y * cols + col] = sum;
}

int main()
{
    const int height = 100, width = 256, tiles = (height + 15) / 16;
    float *x, *sums, host[tiles * width];
    CUtensorMap map;
    cuuint64_t size[] = {width, height}, stride[] = {width * sizeof(float)};
    cuuint32_t box[] = {64, 16}, step[] = {1, 1};

    cudaMalloc(&x, height * width * sizeof(float));
    cudaMalloc(&sums, tiles * width * sizeof(float));
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, size, stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    tile_sums<<<dim3((width + 63) / 64, tiles), 64>>>(map, sums, height, width);
    cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost);
    printf("%g\n", host[0]);
}
