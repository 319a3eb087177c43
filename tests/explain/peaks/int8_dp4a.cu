// C = A B^T of 8-bit integers by dp4a, one result a thread.
#pragma keet size  N = 512
#pragma keet check N = 64
#pragma keet in    A : i8[N][N] = integers(-9, 9)
#pragma keet in    B : i8[N][N] = integers(-9, 9)
#pragma keet out   C : i32[N][N]
#pragma keet work  int8_ops = 2*N*N*N, bytes = 6*N*N
#pragma keet launch product<<<dim3(N/16, N/16), dim3(16, 16)>>>(A, B, C, N)

__global__ void product(const signed char *A, const signed char *B, int *C, int N)
{
    const int row = 16 * blockIdx.y + threadIdx.y, column = 16 * blockIdx.x + threadIdx.x;
    const int *a = (const int *)(A + row * N), *b = (const int *)(B + column * N);
    int sum = 0;

    for (int k = 0; k < N / 4; k++)
        sum = __dp4a(a[k], b[k], sum);
    C[row * N + column] = sum;
}
