// A matrix gone through by columns: each warp touches a word of each of BX rows (and BY/... neighbours in them). STORE: it
// writes; else it reads.
#pragma keet size   N = 2048
#pragma keet check  N = 64
#pragma keet inout  X : i32[N][N] = constant(1)
#pragma keet out    OUT : i32[1]
#pragma keet tune   BX = 16 in {8, 16, 32}
#pragma keet tune   BY = 16 in {8, 16, 32}
#pragma keet launch columns<<<dim3(N/BX, N/BY), dim3(BX, BY)>>>(X, OUT, N)

#ifndef STORE
#define STORE 1
#endif

__global__ void columns(int *a, int *out, int n)
{
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
#if STORE
    a[x * n + y] = x + y;
#else
    if (a[x * n + y] == 0x7fffffff)
        out[0] = 2;
#endif
    if (x + y == 0)
        out[0] = 1;
}
