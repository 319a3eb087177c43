// C = A B^T by mma.sync m16n8k8 in tf32.
#pragma keet size   M = 64, N = 32, K = 32
#pragma keet check  M = 64, N = 32, K = 32
#pragma keet in     A : tf32[M][K] = uniform(-1, 1)
#pragma keet in     B : tf32[N][K] = uniform(-1, 1)
#pragma keet out    C : f32[M][N]
#pragma keet tolerance rel = 1e-5, abs = 1e-4
#pragma keet launch gemm<<<dim3(N/8, M/16), 32>>>(A, B, C, N, K)

__global__ void gemm(const float *a, const float *b, float *c, int n, int k)
{
    int group = threadIdx.x / 4, pair = threadIdx.x % 4;
    float d[4] = {0, 0, 0, 0};
    a += blockIdx.y * 16 * k;
    b += blockIdx.x * 8 * k;
    c += blockIdx.y * 16 * n + blockIdx.x * 8;
    for (int k0 = 0; k0 < k; k0 += 8) {
        const unsigned *p;
        unsigned ra[4], rb[2];
        p = (const unsigned *)&a[group * k + k0 + pair * 1];
        ra[0] = *p;
        p = (const unsigned *)&a[(group + 8) * k + k0 + pair * 1];
        ra[1] = *p;
        p = (const unsigned *)&a[group * k + k0 + pair * 1 + 4];
        ra[2] = *p;
        p = (const unsigned *)&a[(group + 8) * k + k0 + pair * 1 + 4];
        ra[3] = *p;
        p = (const unsigned *)&b[group * k + k0 + pair * 1];
        rb[0] = *p;
        p = (const unsigned *)&b[group * k + k0 + pair * 1 + 4];
        rb[1] = *p;
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    }
    c[group * n + pair * 2] = d[0];
    c[group * n + pair * 2 + 1] = d[1];
    c[(group + 8) * n + pair * 2] = d[2];
    c[(group + 8) * n + pair * 2 + 1] = d[3];
}
