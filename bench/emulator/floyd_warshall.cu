// Sixty-four relaxations in all-pairs shortest paths, out of place.
#pragma keet size   N = 512
#pragma keet in     A : i32[N][N] = integers(1, 1000)
#pragma keet out    B : i32[N][N]
#pragma keet launch step<<<dim3(N/32, N/8), dim3(32, 8)>>>(A, B, N)

__global__ void step(const int *A, int *B, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int least = A[y * n + x];
    for (int k = 0; k < 64; k++)
        least = min(least, A[y * n + k] + A[k * n + x]);
    B[y * n + x] = least;
}
