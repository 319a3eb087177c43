// Seven-point stencil, planes in shared memory, the column in registers.
#pragma keet size   N = 128
#pragma keet in     A : f32[N][N][N]
#pragma keet out    B : f32[N][N][N]
#pragma keet launch stencil<<<dim3(N/32, N/8), dim3(32, 8)>>>(A, B, N)

__global__ void stencil(const float *A, float *B, int n)
{
    __shared__ float tile[10][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = n * n;
    const float *a = A + y * n + x;
    float below = 0, here = a[0];
    for (int z = 0; z < n; z++, a += plane) {
        float above = z + 1 < n ? a[plane] : 0;
        tile[ty][tx] = here;
        if (tx == 1)
            tile[ty][0] = x > 0 ? a[-1] : 0;
        if (tx == 32)
            tile[ty][33] = x + 1 < n ? a[1] : 0;
        if (ty == 1)
            tile[0][tx] = y > 0 ? a[-n] : 0;
        if (ty == 8)
            tile[9][tx] = y + 1 < n ? a[n] : 0;
        __syncthreads();
        B[z * plane + y * n + x] = 0.4f * here + 0.1f * (below + above + tile[ty][tx - 1] +
            tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
        __syncthreads();
        below = here;
        here = above;
    }
}
