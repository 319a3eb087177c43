// C = A B^T of halves on tensor cores: a warp makes 64 x 32 results, from global memory.
#pragma keet size  N = 2048
#pragma keet check N = 64
#pragma keet in    A : f16[N][N]
#pragma keet in    B : f16[N][N]
#pragma keet out   C : f32[N][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet work  flops = 2*N*N*N, bytes = 8*N*N
#pragma keet launch product<<<dim3(N/32, N/64), 32>>>(A, B, C, N)

#include <cuda_fp16.h>

static __device__ int word(const __half *from)
{
    return *(const int *)from;
}

__global__ void product(const __half *A, const __half *B, float *C, int N)
{
    const int group = threadIdx.x / 4, lane = threadIdx.x % 4;
    const int row = 64 * blockIdx.y + group, column = 32 * blockIdx.x + group;
    float c[4][4][4] = {};

    for (int k = 2 * lane; k < N; k += 16) {
        int a[4][4], b[4][2];

        for (int i = 0; i < 4; i++) {
            const __half *from = A + (row + 16 * i) * N + k;

            a[i][0] = word(from);
            a[i][1] = word(from + 8 * N);
            a[i][2] = word(from + 8);
            a[i][3] = word(from + 8 * N + 8);
        }
        for (int j = 0; j < 4; j++) {
            const __half *from = B + (column + 8 * j) * N + k;

            b[j][0] = word(from);
            b[j][1] = word(from + 8);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]), "+f"(c[i][j][3])
                    : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]),
                    "r"(b[j][1]));
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int half = 0; half < 2; half++) {
                float *to = C + (row + 16 * i + 8 * half) * N + 32 * blockIdx.x + 8 * j + 2 * lane;

                to[0] = c[i][j][2 * half];
                to[1] = c[i][j][2 * half + 1];
            }
}
