// Every call inside of a macro that checks for errors.
#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status_ = call;                                                                                    \
        if (status_ != cudaSuccess) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

__global__ void axpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

int main()
{
    int n = 4096;
    float *x = NULL, *y = nullptr;
    CHECK(cudaMalloc((void **)&x, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&y, n * sizeof(float)));
    CHECK(cudaMemset(y, 0, n * sizeof(float)));
    (axpy<<<(n + 255) / 256, 256>>>(y, x, 3.0f, n));
    CHECK(cudaGetLastError());
    CHECK(cudaFree(x));
}
