// Twice a matrix, whose tiles come by tensor copies, swizzled, with zeros outside.
#pragma keet size   M = 40, N = 96
#pragma keet check  M = 19, N = 36
#pragma keet in     X : f32[M][N] = uniform(-1, 1)
#pragma keet out    Y : f32[M][N]
#pragma keet tune   ROWS = 8 in {8, 16}
#pragma keet launch twice<<<dim3(ceil_div(N, 32), ceil_div(M, ROWS)), 32>>>(tensor_map(X, box(32, ROWS), swizzle(128)), Y, M, N)
#include <cuda.h>

__global__ void twice(const __grid_constant__ CUtensorMap X, float *Y, int M, int N)
{
    __shared__ __align__(1024) float tile[ROWS][32];
    __shared__ __align__(8) unsigned long long bar;
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile), at = (unsigned)__cvta_generic_to_shared(&bar);
    const int x = blockIdx.x * 32, y = blockIdx.y * ROWS, lane = threadIdx.x;
    if (lane == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at), "r"(ROWS * 128) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
            :: "r"(to), "l"(&X), "r"(x), "r"(y), "r"(at) : "memory");
    }
    __syncwarp();
    asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra L;\n}" :: "r"(at) : "memory");
    for (int r = 0; r < ROWS; r++)
        if (y + r < M && x + lane < N)
            Y[(size_t)(y + r) * N + x + lane] = 2 * tile[r][(lane / 4 ^ r % 8) * 4 + lane % 4];
}
