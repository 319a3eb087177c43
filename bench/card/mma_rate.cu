// What the tensor cores do by mma.sync m16n8k16 of f16 with sums in f32: eight sums a warp, WARPS warps on each SM.
#pragma keet size   G = 132
#pragma keet check  G = 2
#pragma keet out    OUT : f32[G]
#pragma keet tune   WARPS = 16 in {4, 8, 16, 32}
#pragma keet launch rate<<<G, 32*WARPS>>>(OUT)


__global__ void rate(float *out)
{
    float d[8][4];
    unsigned a = threadIdx.x >> 20, b = threadIdx.x >> 21;
#pragma unroll
    for (int k = 0; k < 32; k++)
        d[k / 4][k % 4] = 0;
#pragma unroll 1
    for (int i = 0; i < 1024; i++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
                : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3]) : "r"(a), "r"(b));
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        sum += d[k / 4][k % 4];
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
