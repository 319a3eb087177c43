// Whole products on tensor cores: C (M x N, f32) = A (M x K) B (K x N), row by row, f16. M and N
// multiples of 64, K of 32. gemm.ptx: nvcc 13.0 -ptx -arch=sm_90a.
#include <mma.h>

using namespace nvcuda;

// 4 warps, each 32 x 32 of a tile of 64 x 64, staged in shared memory.
extern "C" __global__ void __launch_bounds__(128)
    gemm_wmma(const half *A, const half *B, float *C, int M, int N, int K)
{
    __shared__ half a[64][32 + 8], b[32][64 + 8];
    const int row = blockIdx.y * 64, col = blockIdx.x * 64, warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int i = threadIdx.x; i < 64 * 32; i += 128) {
            a[i / 32][i % 32] = A[(row + i / 32) * K + k0 + i % 32];
            b[i / 64][i % 64] = B[(k0 + i / 64) * N + col + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &a[warp / 2 * 32 + i * 16][k], 40);
                wmma::load_matrix_sync(fb[i], &b[k][warp % 2 * 32 + i * 16], 72);
            }
            for (int i = 0; i < 4; i++)
                wmma::mma_sync(sum[i / 2][i % 2], fa[i / 2], fb[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(&C[(row + warp / 2 * 32 + i / 2 * 16) * N + col + warp % 2 * 32 +
                                    i % 2 * 16],
            sum[i / 2][i % 2], N, wmma::mem_row_major);
}

// The same with ldmatrix and mma.sync, and copies that go on while the tile before is multiplied.
__device__ static void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from));
}

__device__ static void stage(half (*a)[40], half (*b)[72], const half *A, const half *B, int N,
    int K)
{
    for (int i = threadIdx.x * 8; i < 64 * 32; i += 128 * 8) {
        copy16(&a[i / 32][i % 32], &A[i / 32 * K + i % 32]);
        copy16(&b[i / 64][i % 64], &B[i / 64 * N + i % 64]);
    }
    asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(128)
    gemm_mma(const half *A, const half *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) half a[2][64][40], b[2][32][72];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, col = warp % 2 * 32;
    float sum[2][4][4] = {};
    A += blockIdx.y * 64 * K;
    B += blockIdx.x * 64;
    stage(a[0], b[0], A, B, N, K);
    for (int k0 = 0, at = 0; k0 < K; k0 += 32, at ^= 1) {
        if (k0 + 32 < K)
            stage(a[at ^ 1], b[at ^ 1], A + k0 + 32, B + (k0 + 32) * N, N, K);
        else
            asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < 32; k += 16) {
            unsigned fa[2][4], fb[4][2];
            for (int i = 0; i < 2; i++) {
                unsigned p = (unsigned)__cvta_generic_to_shared(
                    &a[at][row + i * 16 + lane % 16][k + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                             : "r"(p)
                             : "memory");
            }
            for (int j = 0; j < 4; j++) {
                unsigned p = (unsigned)__cvta_generic_to_shared(&b[at][k + lane % 16][col + j * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                             : "=r"(fb[j][0]), "=r"(fb[j][1])
                             : "r"(p)
                             : "memory");
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]),
                                 "+f"(sum[i][j][3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]),
                                 "r"(fb[j][0]), "r"(fb[j][1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++)
                C[(blockIdx.y * 64 + row + i * 16 + e / 2 * 8 + lane / 4) * N + blockIdx.x * 64 +
                    col + j * 8 + lane % 4 * 2 + e % 2] = sum[i][j][e];
}
