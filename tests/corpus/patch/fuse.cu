// Two kernels that the winner makes one of, warmed up once and then timed.
#include <vector>

#define CHECK(call) if ((call) != cudaSuccess) return 1

__global__ void scale(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i];
}

__global__ void shift(float *z, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = y[i] + 1.0f;
}

int main()
{
    int n = 100000;
    const int threads = 256;
    dim3 blocks((n + threads - 1) / threads);
    float *x, *y, *z;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaMalloc(&z, n * sizeof(float)));
    // once, to warm up
    scale<<<blocks, threads>>>(y, x, 2.0f, n);
    CHECK(cudaGetLastError());
    shift<<<blocks, threads>>>(z, y, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 100; i++) {
        scale<<<blocks, threads>>>(y, x, 2.0f, n);
        shift<<<blocks, threads>>>(z, y, n);
    }
    std::vector<float> host(n);
    CHECK(cudaMemcpy(host.data(), z, n * sizeof(float), cudaMemcpyDeviceToHost));
    return 0;
}
