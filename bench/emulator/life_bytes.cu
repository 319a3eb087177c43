// The game of life on bytes.
#pragma keet size   N = 1024
#pragma keet in     A : u8[N][N] = integers(0, 1)
#pragma keet out    B : u8[N][N]
#pragma keet launch life<<<dim3(N/64, N/4), dim3(64, 4)>>>(A, B, N)

__global__ void life(const unsigned char *A, unsigned char *B, int n)
{
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, nr = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            nr += A[((y + dy) & (n - 1)) * n + ((x + dx) & (n - 1))];
    int me = A[y * n + x];
    B[y * n + x] = nr - me == 3 || (me && nr - me == 2);
}
