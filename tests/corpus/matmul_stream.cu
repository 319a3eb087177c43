// A product in a namespace, warmed up and timed on a stream, each call checked.
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

namespace gemm {

__global__ void naive(float *C, const float *A, const float *B, int n)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && j < n) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += A[i * n + k] * B[k * n + j];
        C[i * n + j] = sum;
    }
}

} // namespace gemm

int main()
{
    const int n = 128, repeats = 10;
    const size_t bytes = (size_t)n * n * sizeof(float);
    float *A, *B, *C;
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaMalloc((void **)&A, bytes));
    CUDA_CHECK(cudaMalloc((void **)&B, bytes));
    CUDA_CHECK(cudaMalloc((void **)&C, bytes));
    const dim3 threads(16, 16), blocks((n + 15) / 16, (n + 15) / 16);
    gemm::naive<<<blocks, threads, 0, stream>>>(C, A, B, n); // warm-up
    CUDA_CHECK(cudaGetLastError());
    for (int r = 0; r < repeats; r++)
        gemm::naive<<<blocks, threads, 0, stream>>>(C, A, B, n);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(B));
    CUDA_CHECK(cudaFree(C));
    return 0;
}
