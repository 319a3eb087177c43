#include <cuda.h>
#include <cuda_runtime.h>

__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (i % 97) * 0.5f;
}

/* The sum of each column of a tile of 16 rows. */
__global__ void tile_sums(const __grid_constant__ CUtensorMap x, float *sums, int rows, int cols)
{
    extern __shared__ __align__(128) float tile[];
    __shared__ __align__(8) unsigned long long bar;
    const unsigned full = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(tile);
    int col = blockIdx.x * WIDTH + threadIdx.x;
    float sum = 0;

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(full));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(full), "r"(16 * WIDTH * 4) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(to), "l"(&x), "r"(blockIdx.x * WIDTH), "r"(blockIdx.y * 16), "r"(full) : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN;\n}" :: "r"(full) : "memory");
    for (int row = 0; row < 16; row++)
        sum += tile[row * WIDTH + threadIdx.x];
    if (col < cols)
        sums[blockIdx.y * cols + col] = sum;
}
#pragma keet size   height = 100, width = 256
#pragma keet temp   x : f32[height*width]
#pragma keet out    sums : f32[(height+15)/16*width]
#pragma keet tune   WIDTH = 128 in {64, 128}
#pragma keet launch fill<<<(height*width+255)/256, 256>>>(x, height*width)
#pragma keet launch tile_sums<<<dim3(ceil_div(width, WIDTH), ceil_div(height, 16)), WIDTH, 51200>>>(tensor_map(x, box(WIDTH, 16), size(width, height)), sums, height, width) cluster(ceil_div(width, WIDTH))
