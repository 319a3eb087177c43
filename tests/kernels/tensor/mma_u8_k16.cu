// C = A B^T by mma.sync m16n8k16 on unsigned bytes.
#pragma keet size   M = 64, N = 32, K = 64
#pragma keet check  M = 64, N = 32, K = 64
#pragma keet in     A : u8[M][K] = integers(0, 200)
#pragma keet in     B : u8[N][K] = integers(0, 200)
#pragma keet out    C : i32[M][N]
#pragma keet launch gemm<<<dim3(N/8, M/16), 32>>>(A, B, C, N, K)

__global__ void gemm(const unsigned char *a, const unsigned char *b, int *c, int n, int k)
{
    int group = threadIdx.x / 4, pair = threadIdx.x % 4;
    int d[4] = {0, 0, 0, 0};
    a += blockIdx.y * 16 * k;
    b += blockIdx.x * 8 * k;
    c += blockIdx.y * 16 * n + blockIdx.x * 8;
    for (int k0 = 0; k0 < k; k0 += 16) {
        const unsigned *p;
        unsigned ra[2], rb[1];
        p = (const unsigned *)&a[group * k + k0 + pair * 4];
        ra[0] = *p;
        p = (const unsigned *)&a[(group + 8) * k + k0 + pair * 4];
        ra[1] = *p;
        p = (const unsigned *)&b[group * k + k0 + pair * 4];
        rb[0] = *p;
        asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
    }
    c[group * n + pair * 2] = d[0];
    c[group * n + pair * 2 + 1] = d[1];
    c[(group + 8) * n + pair * 2] = d[2];
    c[(group + 8) * n + pair * 2 + 1] = d[3];
}
