// A naive product, launched by a helper under other names; the block is a dim3 of constants.
#include <cstdio>
#include <vector>

#define BLOCK 16

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

static void launch(const float *a, const float *b, float *c, int m, int n, int k)
{
    dim3 block(BLOCK, BLOCK);
    dim3 grid((n + BLOCK - 1) / BLOCK, (m + BLOCK - 1) / BLOCK);
    matmul<<<grid, block>>>(a, b, c, m, n, k);
}

int main()
{
    const int rows = 128, cols = 192, inner = 160;
    float *a, *b, *c;
    cudaMalloc(&a, rows * inner * sizeof(float));
    cudaMalloc(&b, inner * cols * sizeof(float));
    cudaMalloc(&c, rows * cols * sizeof(float));
    launch(a, b, c, rows, cols, inner);
    std::vector<float> host(rows * cols);
    cudaMemcpy(host.data(), c, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", host[0]);
    return 0;
}
