// C = A B^T by mma.sync m16n8k32 on signed bytes.
#pragma keet size   M = 64, N = 32, K = 128
#pragma keet check  M = 64, N = 32, K = 128
#pragma keet in     A : i8[M][K] = integers(-100, 100)
#pragma keet in     B : i8[N][K] = integers(-100, 100)
#pragma keet out    C : i32[M][N]
#pragma keet launch gemm<<<dim3(N/8, M/16), 32>>>(A, B, C, N, K)

__global__ void gemm(const signed char *a, const signed char *b, int *c, int n, int k)
{
    int group = threadIdx.x / 4, pair = threadIdx.x % 4;
    int d[4] = {0, 0, 0, 0};
    a += blockIdx.y * 16 * k;
    b += blockIdx.x * 8 * k;
    c += blockIdx.y * 16 * n + blockIdx.x * 8;
    for (int k0 = 0; k0 < k; k0 += 32) {
        const unsigned *p;
        unsigned ra[4], rb[2];
        p = (const unsigned *)&a[group * k + k0 + pair * 4];
        ra[0] = *p;
        p = (const unsigned *)&a[(group + 8) * k + k0 + pair * 4];
        ra[1] = *p;
        p = (const unsigned *)&a[group * k + k0 + pair * 4 + 16];
        ra[2] = *p;
        p = (const unsigned *)&a[(group + 8) * k + k0 + pair * 4 + 16];
        ra[3] = *p;
        p = (const unsigned *)&b[group * k + k0 + pair * 4];
        rb[0] = *p;
        p = (const unsigned *)&b[group * k + k0 + pair * 4 + 16];
        rb[1] = *p;
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    }
    c[group * n + pair * 2] = d[0];
    c[group * n + pair * 2 + 1] = d[1];
    c[(group + 8) * n + pair * 2] = d[2];
    c[(group + 8) * n + pair * 2 + 1] = d[3];
}
