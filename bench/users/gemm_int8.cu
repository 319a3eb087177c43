// Product of int8 matrices, sums in int32; B is stored by columns.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void gemm_int8(const int8_t *A, const int8_t *B, int *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N)
        return;
    int acc = 0;
    for (int k = 0; k < K; k++)
        acc += (int)A[row * K + k] * (int)B[col * K + k];
    C[row * N + col] = acc;
}

int main()
{
    const int M = 512, N = 512, K = 512;
    int8_t *hA = (int8_t *)malloc(M * K), *hB = (int8_t *)malloc(N * K), *dA, *dB;
    int *hC = (int *)malloc(M * N * sizeof(int)), *dC;
    for (int i = 0; i < M * K; i++)
        hA[i] = rand() % 255 - 127;
    for (int i = 0; i < N * K; i++)
        hB[i] = rand() % 255 - 127;
    cudaMalloc(&dA, M * K);
    cudaMalloc(&dB, N * K);
    cudaMalloc(&dC, M * N * sizeof(int));
    cudaMemcpy(dA, hA, M * K, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, hB, N * K, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);
    gemm_int8<<<grid, block>>>(dA, dB, dC, M, N, K);
    cudaMemcpy(hC, dC, M * N * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", hC[0]);
    return 0;
}
