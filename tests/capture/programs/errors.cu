// Errors as users' programs see them. Prints PASS, or what was not as on a card.
#include <cstdio>
#include <cstring>

static int failures;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

__global__ void store(int *to, int at)
{
    to[at] = 1;
}

int main()
{
    int *x, host;
    void *none = &host;
    cudaIpcMemHandle_t handle;
    EXPECT(cudaMalloc(&x, 0) == cudaSuccess && x == nullptr);
    EXPECT(cudaFree(nullptr) == cudaSuccess);
    EXPECT(cudaMalloc(&x, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaMalloc(&x, 64 * sizeof(int)) == cudaSuccess);
    EXPECT(cudaFree(&host) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(&host, none, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess);
    EXPECT(cudaSetDevice(7) == cudaErrorInvalidDevice);
    store<<<1, 2048>>>(x, 0);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    EXPECT(cudaIpcGetMemHandle(&handle, x) == cudaErrorNotSupported);
    EXPECT(cudaGetLastError() == cudaErrorNotSupported);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    EXPECT(cudaEventQuery(nullptr) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();

    store<<<1, 1>>>(x, 64);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMemset(x, 0, 4) == cudaErrorIllegalAddress);
    EXPECT(cudaDeviceReset() == cudaSuccess);
    cudaGetLastError();
    EXPECT(cudaMalloc(&x, 4) == cudaSuccess);
    store<<<1, 1>>>(x, 0);
    EXPECT(cudaMemcpy(&host, x, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 1);
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
