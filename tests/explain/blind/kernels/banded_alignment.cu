// Best local score of pairs of short reads, one pair per thread, linear gaps.
#pragma keet size   N = 65536
#pragma keet check  N = 500
#pragma keet in     A : u8[48][N] = integers(0, 3)
#pragma keet in     B : u8[48][N] = integers(0, 3)
#pragma keet out    S : i32[N]
#pragma keet work   flops = 5*48*48*N, bytes = 100*N
#pragma keet launch align<<<ceil_div(N, 128), 128>>>(A, B, S, N)

__global__ void align(const unsigned char *__restrict__ A, const unsigned char *__restrict__ B, int *__restrict__ S,
    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row[49], best = 0;
    for (int c = 0; c <= 48; c++)
        row[c] = 0;
    for (int r = 0; r < 48; r++) {
        int a = A[r * n + i], corner = 0, left = 0;
#pragma unroll 4
        for (int c = 1; c <= 48; c++) {
            int up = row[c];
            int h = max(corner + (a == B[(c - 1) * n + i] ? 2 : -1), max(up, left) - 1);
            h = max(h, 0);
            row[c] = h;
            best = max(best, h);
            corner = up;
            left = h;
        }
    }
    S[i] = best;
}
