// C = A B^T by mma.sync m16n8k16 with ldmatrix from shared memory, 16 x 16 outputs a warp.
#pragma keet size   M = 64, N = 64, K = 64
#pragma keet check  M = 64, N = 64, K = 64
#pragma keet in     A : f16[M][K] = uniform(-1, 1)
#pragma keet in     B : f16[N][K] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-5, abs = 1e-4
#pragma keet launch gemm<<<dim3(N/16, M/16), 32>>>(A, B, C, N, K)
#include <cuda_fp16.h>

__global__ void gemm(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(16) half as[16][24], bs[16][24];
    int lane = threadIdx.x, group = lane / 4, pair = lane % 4;
    float d[2][4] = {{0}};
    a += blockIdx.y * 16 * k;
    b += blockIdx.x * 16 * k;
    c += blockIdx.y * 16 * n + blockIdx.x * 16;
    for (int k0 = 0; k0 < k; k0 += 16) {
        unsigned ra[4], rb[4];
        int row = lane / 2, part = lane % 2 * 8;
        *(uint4 *)&as[row][part] = *(const uint4 *)&a[row * k + k0 + part];
        *(uint4 *)&bs[row][part] = *(const uint4 *)&b[row * k + k0 + part];
        __syncwarp();
        unsigned pa = (unsigned)__cvta_generic_to_shared(&as[lane % 16][lane / 16 * 8]);
        unsigned pb = (unsigned)__cvta_generic_to_shared(&bs[lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(rb[0]), "=r"(rb[1]), "=r"(rb[2]), "=r"(rb[3]) : "r"(pb) : "memory");
        for (int half_n = 0; half_n < 2; half_n++) {
            float *s = d[half_n];
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                         "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                         : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[half_n * 2]),
                         "r"(rb[half_n * 2 + 1]));
        }
        __syncwarp();
    }
    for (int half_n = 0; half_n < 2; half_n++)
        for (int i = 0; i < 4; i++)
            c[(group + i / 2 * 8) * n + half_n * 8 + pair * 2 + i % 2] = d[half_n][i];
}
