// Batched product, one output per thread.
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch product<<<dim3(ceil_div(n, TILE), ceil_div(m, TILE), batch_size), dim3(TILE, TILE)>>>(A, B, y, m, n, k)

__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    A += blockIdx.z * M * K;
    B += blockIdx.z * K * N;
    C += blockIdx.z * M * N;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
