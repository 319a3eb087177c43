// One product of fragments per kernel, for every shape and type that <mma.h> has, and some of the
// layouts. wmma.ptx: nvcc 13.0 -ptx -arch=sm_90a.
#include <mma.h>

using namespace nvcuda::wmma;

#define KERNEL(name, M, N, K, TA, IN, TC, LA, LB, LC)                                              \
    extern "C" __global__ void name(                                                               \
        const IN *a, const IN *b, const TC *c, TC *d, int lda, int ldb, int ldc)                   \
    {                                                                                              \
        fragment<matrix_a, M, N, K, TA, LA> fa;                                                    \
        fragment<matrix_b, M, N, K, TA, LB> fb;                                                    \
        fragment<accumulator, M, N, K, TC> fc, fd;                                                 \
        load_matrix_sync(fa, a, lda);                                                              \
        load_matrix_sync(fb, b, ldb);                                                              \
        load_matrix_sync(fc, c, ldc, LC);                                                          \
        mma_sync(fd, fa, fb, fc);                                                                  \
        store_matrix_sync(d, fd, ldc, LC);                                                         \
    }

typedef unsigned char u8;
typedef signed char s8;

#define HALVES(shape, M, N, K)                                                                     \
    KERNEL(f16_f32_##shape##_rrr, M, N, K, half, half, float, row_major, row_major, mem_row_major) \
    KERNEL(f16_f32_##shape##_rcc, M, N, K, half, half, float, row_major, col_major, mem_col_major) \
    KERNEL(f16_f16_##shape##_crr, M, N, K, half, half, half, col_major, row_major, mem_row_major)  \
    KERNEL(f16_f16_##shape##_ccc, M, N, K, half, half, half, col_major, col_major, mem_col_major)  \
    KERNEL(bf16_f32_##shape##_rcr, M, N, K, __nv_bfloat16, __nv_bfloat16, float, row_major,        \
        col_major, mem_row_major)                                                                  \
    KERNEL(bf16_f32_##shape##_crc, M, N, K, __nv_bfloat16, __nv_bfloat16, float, col_major,        \
        row_major, mem_col_major)                                                                  \
    KERNEL(s8_s32_##shape##_rcr, M, N, K, s8, s8, int, row_major, col_major, mem_row_major)        \
    KERNEL(u8_s32_##shape##_crc, M, N, K, u8, u8, int, col_major, row_major, mem_col_major)

HALVES(m16n16k16, 16, 16, 16)
HALVES(m32n8k16, 32, 8, 16)
HALVES(m8n32k16, 8, 32, 16)
KERNEL(tf32_f32_m16n16k8_rrr, 16, 16, 8, precision::tf32, float, float, row_major, row_major,
    mem_row_major)
KERNEL(tf32_f32_m16n16k8_ccc, 16, 16, 8, precision::tf32, float, float, col_major, col_major,
    mem_col_major)
KERNEL(f64_f64_m8n8k4_rcr, 8, 8, 4, double, double, double, row_major, col_major, mem_row_major)
KERNEL(f64_f64_m8n8k4_crc, 8, 8, 4, double, double, double, col_major, row_major, mem_col_major)
