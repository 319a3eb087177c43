// C = A B^T of 8-bit integers on tensor cores: a warp makes 64 x 32 results, from global memory.
#pragma keet size  N = 1024
#pragma keet check N = 64
#pragma keet in    A : i8[N][N] = integers(-9, 9)
#pragma keet in    B : i8[N][N] = integers(-9, 9)
#pragma keet out   C : i32[N][N]
#pragma keet work  flops = 2*N*N*N, bytes = 6*N*N
#pragma keet launch product<<<dim3(N/32, N/64), 32>>>(A, B, C, N)

static __device__ int word(const signed char *from)
{
    return *(const int *)from;
}

__global__ void product(const signed char *A, const signed char *B, int *C, int N)
{
    const int group = threadIdx.x / 4, lane = threadIdx.x % 4;
    const int row = 64 * blockIdx.y + group, column = 32 * blockIdx.x + group;
    int c[4][4][4] = {};

    for (int k = 4 * lane; k < N; k += 32) {
        int a[4][4], b[4][2];

        for (int i = 0; i < 4; i++) {
            const signed char *from = A + (row + 16 * i) * N + k;

            a[i][0] = word(from);
            a[i][1] = word(from + 8 * N);
            a[i][2] = word(from + 16);
            a[i][3] = word(from + 8 * N + 16);
        }
        for (int j = 0; j < 4; j++) {
            const signed char *from = B + (column + 8 * j) * N + k;

            b[j][0] = word(from);
            b[j][1] = word(from + 16);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+r"(c[i][j][0]), "+r"(c[i][j][1]), "+r"(c[i][j][2]), "+r"(c[i][j][3])
                    : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]),
                    "r"(b[j][1]));
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int half = 0; half < 2; half++) {
                int *to = C + (row + 16 * i + 8 * half) * N + 32 * blockIdx.x + 8 * j + 2 * lane;

                to[0] = c[i][j][2 * half];
                to[1] = c[i][j][2 * half + 1];
            }
}
